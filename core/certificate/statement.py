"""The certificate in one sentence, and what it rests on."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from core.certificate.certificate import Coverage

ASSUMPTIONS = [
    "Calibration points and future inputs are drawn independently from one distribution. "
    "After a drift the promise is void.",
    "The prior, the ranks, the weights and the number of draws were fixed before the calibration points were seen.",
    "Coverage is on average over future inputs, not for each single input or group of inputs.",
]


def statement(coverage: "Coverage", members: int) -> str:
    """Says what is promised, with which probability, and over which randomness."""
    share, risk = _percent(1 - coverage.alpha), _percent(1 - coverage.delta)
    points = f"the {coverage.n} calibration points"
    if coverage.bound in ("vovk_2a", "vovk_2b"):
        return (
            f"With probability at least {risk} over the drawing of {points}, the sets of this predictor contain the "
            f"truth for at least {share} of future inputs."
        )
    if coverage.bound == "per_draw":
        return (
            f"With probability at least {risk} over the drawing of {points} and of the members, every one of the "
            f"{members} stored members, all at once, gives sets that contain the truth for at least {share} of "
            "future inputs."
        )
    return (
        f"With probability at least {risk} over the drawing of {points}, sets whose member is drawn from the posterior "
        f"contain the truth for at least {share} of future inputs, on average over the posterior; for the {members} "
        f"stored members together at least {_percent(1 - coverage.pool_miscoverage_bound)} is promised, except with "
        f"a further probability of at most {_percent(coverage.pool_delta)} over their drawing."
    )


def _percent(share: float) -> str:
    return f"{100 * share:.6g} %"
