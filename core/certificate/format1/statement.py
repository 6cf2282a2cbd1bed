"""The words of format 1, letter by letter."""

from certiset.core.certificate.content import CertificateContent

ASSUMPTIONS = [
    "Calibration points and future inputs are drawn independently from one distribution. "
    "After a drift the promise is void.",
    "The prior, the ranks, the weights and the number of draws were fixed before the calibration points were seen.",
    "Coverage is on average over future inputs, not for each single input or group of inputs.",
]


def statement(certificate: CertificateContent) -> str:
    """The sentence of a certificate whose bound is known."""
    coverage, members = certificate.coverage, len(certificate.members)
    start = (
        f"With probability at least {_percent(1 - coverage.delta)} over the drawing of the {coverage.n} calibration "
        "points"
    )
    covered = _percent(1 - coverage.alpha)
    if coverage.bound in ("vovk_2a", "vovk_2b"):
        return f"{start}, the sets of this predictor contain the truth for at least {covered} of future inputs."
    if coverage.bound == "per_draw":
        return (
            f"{start} and of the members, every one of the {members} stored members, all at once, gives sets that "
            f"contain the truth for at least {covered} of future inputs."
        )
    return (
        f"{start}, sets whose member is drawn from the posterior contain the truth for at least {covered} of future "
        f"inputs, on average over the posterior; for the {members} stored members together at least "
        f"{_percent(1 - coverage.pool_miscoverage_bound)} is promised, except with a further probability of at most "
        f"{_percent(coverage.pool_delta)} over their drawing."
    )


def _percent(share: float) -> str:
    return f"{100 * share:.6g} %"
