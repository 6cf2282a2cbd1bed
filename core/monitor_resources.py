"""Outcomes and monitors as JSON has them."""

from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

from pydantic import Field

from certiset.core.certificate.rounding import risk
from certiset.core.display import Card, Shown, Tone
from certiset.core.resource_base import CertificateStatus, Resource

if TYPE_CHECKING:
    from matplotlib.axes import Axes

OutcomeStateName: TypeAlias = Annotated[str, Field(json_schema_extra={"enum": ["counted", "repeated", "annulled"]})]


class PathPoint(Resource):
    outcomes: int
    misses: int
    log_capital: float


class SizeMonitor(Resource):
    """How large the sets of counted outcomes were, against the certified mean size."""

    promised: float
    """the certified mean"""
    cap: float
    """sizes above it count as it"""
    sets: int
    mean: float | None
    eta: float
    log_capital: float
    log_peak: float
    log_threshold: float


class GroupMonitor(Resource):
    """How the sets of one group, or class, have done."""

    name: tuple[str, ...]
    outcomes: int
    misses: int
    miscoverage: float | None
    interval: tuple[float, float]
    """for all groups and every moment at once, with probability 1 - eta"""
    log_capital: float
    log_peak: float
    contradicted: bool
    label: str | None = None
    """of a class, its name, where it has one"""


class Monitor(Shown, Resource):
    """How served sets have done, and whether that contradicts the certificate."""

    predictor_id: str
    certificate_id: str
    status: CertificateStatus
    promised_miscoverage: float
    outcomes: int
    misses: int
    miscoverage: float | None
    interval: tuple[float, float]
    """holds at every moment at once, with probability 1 - eta"""
    eta: float
    log_capital: float
    log_peak: float
    log_threshold: float
    """contradicted once the capital's logarithm reaches it"""
    contradicted_at: str | None
    path: tuple[PathPoint, ...]
    contradicted_by: tuple[str, ...] = ()
    """coverage, size, or both"""
    eta_coverage: float | None = None
    """the part of eta that outcomes may spend; the rest is for sizes"""
    size: SizeMonitor | None = None
    """null where no size is certified"""
    issued: int = 0
    """sets served, replays apart"""
    reported: int = 0
    """of which the outcome was reported, counted or not"""
    share: float | None = None
    """reported / issued"""
    caveats: tuple[str, ...] = ()
    """what to know about the verdict"""
    groups: tuple[GroupMonitor, ...] | None = None
    """those that have a threshold of their own; null where there are none"""
    eta_group: float | None = None
    """the part of eta that each of them may spend"""

    def card(self) -> Card:
        low, high = (f"{100 * share:.3g} %" for share in self.interval)
        sure = f"true share missed, {100 * (1 - self.eta):.4g} % sure"
        facts = [
            ("outcomes", f"{self.outcomes}, of which {self.misses} missed"),
            ("promised", f"at most {risk(self.promised_miscoverage)} missed"),
            (sure, f"from {low} to {high}, at every moment at once"),
            ("certificate", self.certificate_id),
        ]
        said = {
            "consistent": "The outcomes do not contradict the certificate.",
            "contradicted": "The outcomes contradict the certificate: do not rely on its promise.",
            "withdrawn": "The predictor was deleted and is no longer served.",
        }
        tone: Tone = "good" if self.status == "consistent" else "bad"
        verdict = (tone, said.get(self.status, self.status))
        return Card("Monitor", ".plot() draws it", verdict=verdict, caveats=self.caveats, facts=facts)

    def plot(self, what: Literal["coverage", "capital", "groups"] = "coverage", ax: "Axes | None" = None) -> "Axes":
        """Draws how its sets have done, by Matplotlib: onto these axes, or those of a figure of its own.

        ``what``: the coverage so far, the capital that bets against the certificate, or the outcomes of every group.
        """
        # Who only reads a monitor needs none of these.
        from certiset.core import monitor_figures  # noqa: PLC0415
        from certiset.core.certificate.group_figures import outcomes_by_group  # noqa: PLC0415
        from certiset.core.plotting import draw, one_of  # noqa: PLC0415

        if one_of(what, ("coverage", "capital", "groups")) == "groups":
            return draw(outcomes_by_group(self.groups or (), self.promised_miscoverage), ax)
        return draw(monitor_figures.coverage(self) if what == "coverage" else monitor_figures.capital(self), ax)


class OutcomesCounted(Resource):
    counted: int
    repeated: int
    """known before, by their prediction or by their case, and not counted again"""
    replayed: int
    """of members that were asked for, and therefore not counted"""
    covered: tuple[bool, ...]
    """for each outcome, whether its set contained it"""
    collected: int = 0
    """that will calibrate the next predictor of the deployment that was asked"""


class OutcomeState(Resource):
    """An outcome that was reported, after it was corrected."""

    predictor_id: str
    covered: bool | None
    """whether the set contained the truth; null where there is none any more"""
    state: OutcomeStateName
    """counted; repeated: another of the same case counts; annulled: its truth was withdrawn"""
