"""Every stored draw from a posterior, all at once, each at the rank that its log-ratio allows."""

import math

import numpy as np

from certiset.core.bounds import TooFewPointsError, calibration_rank, per_draw_budget, per_draw_rank
from certiset.core.bounds.domain import Floats, Ints
from certiset.core.certificate.checks import Check, close
from certiset.core.certificate.content import CertificateContent
from certiset.core.certificate.guarantees.base import MemberwiseGuarantee, Step, as_array, column
from certiset.core.certificate.population import contains_the_truth
from certiset.core.certificate.rounding import promise

_FALLBACK_SHARES = (1.0, 0.9, 0.75, 0.5)
_FALLBACK_WEIGHTS = (0.7, 0.1, 0.1, 0.1)
_MEMBERS_PER_SPARE = 16
"""A draw that is so far out that it gets no rank is not served. One spare for so many costs every draw 0.06 nats."""
_DEVIATIONS = 1.0
"""how many standard deviations of a draw's log-ratio are kept free below its allowance"""


class PerDraw(MemberwiseGuarantee):
    def step(self, n: int, alpha: float, delta: float, level: float, members: int) -> Step | None:
        try:
            k = int(calibration_rank(n, level))
        except TooFewPointsError:
            return None
        ranks: dict[int, float] = {}
        for share, weight in zip(_FALLBACK_SHARES, _FALLBACK_WEIGHTS, strict=True):
            rank = max(1, int(k * share))
            ranks[rank] = ranks.get(rank, 0.0) + weight
        allowance = float(per_draw_budget(n, k, alpha, delta, ranks[k], self.draws(members)))
        # A log-ratio has mean KL and a standard deviation of about sqrt(2 KL): solve KL + z sqrt(2 KL) = allowance.
        z = _DEVIATIONS * math.sqrt(2)
        root = (-z + math.sqrt(z * z + 4 * max(allowance, 0.0))) / 2
        return Step(level, k, allowance, root * root, list(ranks), list(ranks.values()))

    def draws(self, members: int) -> int:
        return members + members // _MEMBERS_PER_SPARE

    def ranks(self, step: Step, n: int, alpha: float, delta: float, kl: float, log_ratios: Floats) -> Ints:
        draws = len(log_ratios)
        return np.asarray(per_draw_rank(n, alpha, delta, log_ratios, step.open_ranks, step.rank_weights, draws))

    def statement(self, certificate: CertificateContent) -> str:
        coverage, members = certificate.coverage, len(certificate.members)
        who = f"every one of the {members} stored members, all at once, gives"
        if (certificate.options or {}).get("serve") == "best":
            who = f"the stored member, chosen among {coverage.draws} that were drawn, gives"
        return (
            f"With probability at least {promise(coverage.delta)} over the drawing of the {coverage.n} calibration "
            f"points and of the members, {who} sets that {contains_the_truth(certificate, coverage.alpha)}."
        )

    def coverage_checks(self, certificate: CertificateContent) -> list[Check]:
        coverage = certificate.coverage
        n, alpha, draws, share = coverage.n, coverage.alpha, coverage.draws, coverage.share(coverage.delta)
        ranks, log_ratios = column(certificate, "k"), as_array(column(certificate, "log_ratio"))
        allowed = per_draw_rank(n, alpha, share, log_ratios, coverage.ranks, coverage.rank_weights, draws)
        weight = dict(zip(coverage.ranks, coverage.rank_weights, strict=True))[coverage.k]
        return [
            Check("draws", len(ranks) <= draws, f"at most {draws}", len(ranks)),
            Check("open ranks", set(ranks) <= set(coverage.ranks), coverage.ranks, ranks),
            Check("ranks", bool(np.all(np.asarray(ranks) <= allowed)), np.asarray(allowed).tolist(), ranks),
            close("budget", float(per_draw_budget(n, coverage.k, alpha, share, weight, draws)), coverage.kl_budget),
            *self.whole_promise(coverage),
        ]


PER_DRAW = PerDraw("per_draw")
