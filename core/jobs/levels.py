"""The levels of a predictor whose promise is for all alpha at once."""

from dataclasses import asdict

from certiset.core.certificate import Certificate
from certiset.core.certificate.level_checks import smallest_alpha
from certiset.core.certificate.level_table import level_table, levels_of, smallest_alpha_for
from certiset.core.level_resources import LevelAnswer, LevelRow, Levels


def levels_resource(certificate: Certificate, share: float | None, size: float | None) -> Levels:
    """The table, and where a size is given the answer to "the smallest alpha for which so many sets are so small"."""
    answer = None
    if size is not None:
        asked = 0.9 if share is None else share
        answer = LevelAnswer(share=asked, size=size, alpha=smallest_alpha_for(certificate, asked, size))
    return Levels(
        predictor_id=certificate.predictor_id,
        certificate_id=certificate.id,
        measure=certificate.efficiency.measure,
        n=certificate.coverage.n,
        delta=certificate.coverage.delta,
        gamma=certificate.efficiency.gamma,
        smallest_alpha=smallest_alpha(certificate, levels_of(certificate)),
        items=tuple(LevelRow(**asdict(row)) for row in level_table(certificate)),
        answer=answer,
    )
