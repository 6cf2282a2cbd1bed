"""What a monitor watches of a certificate, and how eta, the chance of a false alarm, is shared between it."""

from dataclasses import dataclass
from typing import Any

from certiset.core.certificate import Certificate
from certiset.core.certificate.guarantees import guarantee_of
from certiset.core.certificate.population import is_by_class, listed_groups
from certiset.core.store.monitors import Levels
from certiset.core.store.store import Transaction


@dataclass(frozen=True)
class Watched:
    alpha: float
    """the miscoverage that was promised for what is served"""
    cap: float | None
    """sizes above it count as it; None: no size is certified"""
    mean_size: float | None
    member_sizes: tuple[float | None, ...] = ()
    """certified for each member, where one is"""
    groups: tuple[tuple[str, ...], ...] = ()
    """names of all groups that are listed, in the order of their thresholds"""
    listed: int = 0
    """how many of them are listed by themselves: one more may be all others"""
    finite: frozenset[int] = frozenset()
    """places of groups that have a threshold; the others miss nothing"""
    by_class: bool = False
    labels: tuple[str, ...] | None = None
    """names of the classes, where they have some"""

    @classmethod
    def by(cls, certificate: Certificate) -> "Watched":
        coverage, efficiency = certificate.coverage, certificate.efficiency
        alpha = guarantee_of(coverage).promised_alpha(coverage)
        if certificate.groups is not None:
            finite = frozenset(place for place, group in enumerate(certificate.groups) if group.tau is not None)
            names = tuple(tuple(group.name) for group in certificate.groups)
            return cls(
                alpha,
                None,
                None,
                groups=names,
                listed=len(listed_groups(certificate)),
                finite=finite,
                by_class=is_by_class(certificate),
                labels=_labels(certificate),
            )
        if efficiency.cap is None or efficiency.upper_bound is None or efficiency.upper_bound <= 0:
            return cls(alpha, None, None, labels=_labels(certificate))
        sizes = tuple(member.efficiency_bound for member in certificate.members)
        return cls(alpha, efficiency.cap, efficiency.upper_bound, sizes, labels=_labels(certificate))

    def levels(self, eta: float) -> Levels:
        """Half of eta each for misses and sizes, so that either alarm is false with probability at most eta.

        Where groups are promised, half for all inputs together and the other half in equal parts for the groups.
        """
        if self.finite:
            return Levels(self.alpha, eta / 2, None, eta / 2 / len(self.finite))
        return Levels(self.alpha, eta, None) if self.cap is None else Levels(self.alpha, eta / 2, eta / 2)

    def group(self, place: int | None, y: Any) -> int | None:
        """Of an outcome, if its group has a threshold; of classes it is the truth."""
        found = int(y) if self.by_class else place
        return found if found in self.finite else None

    def group_name(self, place: int | None) -> tuple[str, ...] | None:
        """Of a column's group that is listed by itself; None for any other, which may share a threshold with others."""
        return self.groups[place] if place is not None and not self.by_class and place < self.listed else None

    def size(self, member: int, size: float) -> tuple[float, float] | None:
        """A set's size and what was certified for its mean, as shares of the cap."""
        if self.cap is None or self.mean_size is None:
            return None
        own = self.member_sizes[member] if 0 <= member < len(self.member_sizes) else None
        return min(size / self.cap, 1.0), (own or self.mean_size) / self.cap


def _labels(certificate: Certificate) -> tuple[str, ...] | None:
    facts = certificate.model
    return None if facts is None or facts.labels is None else tuple(facts.labels)


def watched(work: Transaction, tenant: str, predictor_id: str) -> Watched:
    """By the stored certificate of a predictor that is served."""
    record = work.certificates.get(tenant, work.predictors.get(tenant, predictor_id).certificate_id)
    return Watched.by(Certificate.from_json(record.document))
