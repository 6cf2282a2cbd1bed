"""What a promise for all alpha at once costs: ranks and sizes at some levels, beside what one alpha would have had."""

from dataclasses import dataclass

from certiset.core.bounds import vovk_2b
from certiset.core.certificate.content import CertificateContent
from certiset.core.certificate.level_checks import place_of
from certiset.core.certificate.levels import Levels
from certiset.core.errors import ConflictError, OptionError


@dataclass(frozen=True)
class LevelCost:
    alpha: float
    rank: int
    rank_of_one_alpha: int
    """that a promise for this alpha alone would have had: the difference is the price"""
    size: float
    """mean size on the calibration rows"""
    size_bound: float | None
    """certified, for all levels at once"""


def levels_of(certificate: CertificateContent) -> Levels:
    if certificate.levels is None:
        raise ConflictError(
            f"This predictor's promise is for alpha = {certificate.coverage.alpha:g} alone: calibrate with alpha: "
            '"all" for one that holds at all levels.'
        )
    return certificate.levels


def check_asked(certificate: CertificateContent, alpha: float | None) -> None:
    """That the level which a set is asked for is one that is promised, and is named where there are several."""
    promised = certificate.coverage.alpha
    if certificate.levels is None and alpha is not None and alpha != promised:
        raise OptionError(
            f"This predictor's promise is for alpha = {promised:g} alone: leave alpha out, or calibrate with "
            'alpha: "all".',
            field="alpha",
        )
    if certificate.levels is not None and alpha is None:
        raise OptionError(
            "This predictor's promise is for all alpha at once: say which is meant, such as alpha = "
            f"{promised:g}, the same for all inputs.",
            field="alpha",
        )


def threshold_at(certificate: CertificateContent, alpha: float) -> tuple[float, float | None]:
    """The threshold of that level, in both its halves."""
    levels = levels_of(certificate)
    place = place_of(certificate, levels, alpha)
    return levels.taus[place], None if levels.ties is None else levels.ties[place]


def level_table(certificate: CertificateContent) -> list[LevelCost]:
    coverage, levels = certificate.coverage, levels_of(certificate)
    delta = coverage.share(coverage.delta)
    return [
        LevelCost(level.alpha, level.k, int(vovk_2b(coverage.n, level.alpha, delta)), level.size, level.size_bound)
        for level in levels.table
    ]


def smallest_alpha_for(certificate: CertificateContent, share: float, size: float) -> float | None:
    """The smallest level at which so large a share of the calibration rows' sets is no larger than ``size``.

    It is measured, and not certified; the promise holds for it, as it does for every level. None where none is.
    """
    levels = levels_of(certificate)
    if not 0 < share <= 1:
        raise OptionError("share must be above 0 and at most 1.", field="share")
    place = next(place for place, known in enumerate(levels.shares) if known >= share * (1 - 1e-12))
    return next((level.alpha for level in levels.table if level.sizes[place] <= size), None)
