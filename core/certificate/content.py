"""What a certificate says: its parts and its JSON."""

from dataclasses import dataclass, field
from typing import Any

from certiset.core.certificate.canaries import Canaries
from certiset.core.certificate.digest import digest_of
from certiset.core.certificate.format1_fields import only_format_1
from certiset.core.certificate.group_content import Group
from certiset.core.certificate.levels import Levels
from certiset.core.certificate.names import ModelFacts, Names
from certiset.core.certificate.provenance import Provenance
from certiset.core.certificate.selection import Selection
from certiset.core.certificate.shift import Shift
from certiset.core.certificate.strict_json import written

FORMAT = 2
"""of certificates that are issued today"""


@dataclass(frozen=True)
class Union:
    """The choices that were open: all of them paid for, one taken."""

    choices: list[str]
    weights: list[float]
    """shares of delta and gamma, fixed before D_N was seen; they add up to at most 1"""
    taken: int


@dataclass(frozen=True)
class Coverage:
    alpha: float
    delta: float
    """the whole delta; the choice taken spent its weight's share of it"""
    guarantee: str
    """per_draw: every member; posterior: the mean over the posterior; pool: the mean over the stored members"""
    bound: str
    """vovk_2a, vovk_2b, vovk_2b_by_group, per_draw, seeger, chernoff, progressive or progressive_by_group"""
    n: int
    """points of D_N, not used for tuning; of a pool the points of all its blocks"""
    kl: float
    """KL(Q‖P) in nats; 0 without a posterior step"""
    kl_budget: float | None
    """the largest KL that the bound allows, or, for per_draw, the largest log-ratio at rank k"""
    miscoverage_bound: float
    pool_miscoverage_bound: float
    """for the mean over the members that are really served"""
    pool_delta: float
    """spent on the pool bound, on top of delta and shared out like it; 0 where every member is certified"""
    alpha_hat: float
    """k / (n + 1); of a pool the mean over its members, by their weights"""
    k: int
    """of a pool the sum of its members' ranks"""
    draws: int
    """how many members were drawn, served or not"""
    ranks: list[int]
    """the ranks open to a draw, fixed before D_N was seen; of a pool the rank of each member"""
    rank_weights: list[float]
    """shares of delta; of a pool the chance of each member to be served"""
    union: Union
    sizes: list[int] | None = None
    """of a pool: the points of each member's block"""
    tail: float | None = None
    """of a pool: an upper bound on the chance that it misses more than alpha"""

    def share(self, whole: float) -> float:
        """The part of delta or gamma that the choice taken was given."""
        return whole * self.union.weights[self.union.taken]


@dataclass(frozen=True)
class Member:
    member: int
    k: int
    tau: float
    """where groups have their own, the largest of them, as k is the sum of their ranks"""
    log_ratio: float
    miscoverage_bound: float | None
    efficiency_empirical: float | None
    efficiency_bound: float | None
    """in units of size"""
    size_k: int | None = None
    """the rank, from above, of the size that few sets exceed"""
    size_quantile: float | None = None
    """that size: the size_k-th largest on D_N, either it or the threshold rounded up to what was fixed beforehand"""
    size_counts: list[list[int]] | None = None
    """[level, rows] at the grid point taken, in steps of cap / size_steps: what grid_betting is computed from"""
    weight: float | None = None
    """the chance to be drawn for an input; absent where all members have the same"""
    n: int | None = None
    """points of the member's own block, among which k is its rank; absent where all members have all points"""
    tuned_on: int | None = None
    """points that were revealed when the member was tuned: those that tune, and the blocks before its own"""
    tie: float | None = None
    """where ties are broken: of scores that tie, those are in the set whose hash, from 0 to 1, is at most this"""
    distance: float | None = None
    """of a drawn member: how far its parameters lie from the prior's mean, in standard deviations of the prior, as the
    root mean square over the parameters; draws from the prior itself are near 1"""


@dataclass(frozen=True)
class SizeQuantile:
    """At most this share of future sets is larger than ``size``, except with probability gamma: whatever the cap."""

    share: float
    size: float
    gamma: float
    k: int | None = None
    """of a pool: the rank, from above, of that size on the last block, each row's set by a member drawn for it"""
    sizes: int | None = None
    """how many sizes were open to it beforehand; null where thresholds were rounded up to their grid instead"""


EXACT = "exact"
"""the bound of sizes that are all the same"""


@dataclass(frozen=True)
class Efficiency:
    measure: str
    """labels, width or volume"""
    bound: str | None
    """grid_kl, monotone or grid_betting; exact for sets of one size; null where no mean is certified"""
    gamma: float
    empirical: float
    """mean size on D_N; of a pool on its last block, over the members by their weights"""
    upper_bound: float | None
    """on the mean of the size capped at ``cap``, for future inputs"""
    cap: float | None
    grid_size: int | None
    monte_carlo: float
    """share of gamma spent on having only finitely many draws; 0 since format 2"""
    quantile: SizeQuantile | None = None
    size_steps: int | None = None
    """for grid_betting: sizes are counted in so many steps up to ``cap``, rounded up"""
    size_counts: list[list[int]] | None = None
    """of a pool: [level, rows] of the last block, by the mean size over the members, at the grid point taken"""
    dimensions: int | None = None
    """of the space of the targets, where every set has the same volume"""

    @property
    def is_exact(self) -> bool:
        """Whether every set of a member has the same size, so that nothing has to be bounded."""
        return self.bound == EXACT


@dataclass(frozen=True)
class Caveat:
    """Something that a reader should know before relying on the promise, and what to do about it."""

    code: str
    message: str


@dataclass(frozen=True)
class Data:
    """The rows that were given."""

    rows: int
    distinct_rows: int | None = None
    """of which no two inputs are the same"""
    columns: list[str] | None = None
    """names of the inputs, where they have some"""
    clusters: int | None = None
    """where rows belong together: how many clusters, of each of which one row was drawn to calibrate"""
    cluster_column: str | None = None
    """the column that says which rows belong together; equal_rows where equal ones do; null for an array"""
    order_p_value: float | None = None
    """of a test that rows which come later are like those before"""
    file_sha256: str | None = None
    """of the file that was uploaded; not part of the digest, since other files may hold the same rows"""


@dataclass(frozen=True)
class Account:
    """Which attempt on these rows it was; counted by whoever signs, and not part of the digest."""

    attempt: int
    """1 for the first"""
    delta_all: float
    """the sum of the risks of all attempts up to this one"""
    family: int
    """how many were planned beforehand, and share delta"""
    statement: str
    """what may be promised for the best of them"""

    @property
    def is_caveat(self) -> bool:
        """Whether it is one more than were planned; not among the caveats, which equal fits have in common."""
        return self.attempt > self.family


@dataclass(frozen=True)
class DeploymentAccount:
    """Whose reported outcomes calibrated it; added by whoever signs, and not part of the digest."""

    name: str
    block: int
    rows: int
    """inputs whose truths were reported, all of which are used"""
    issued: int
    """inputs that were asked meanwhile"""
    delta_all: float
    """the sum of the risks of the deployment up to this predictor"""
    statement: str
    """what is assumed of the rows, and what is promised for all predictors up to this one"""
    total: float | None = None
    """what the sum may not exceed"""
    over: int | None = None
    """how many predictors that is to last for"""
    kept: int | None = None
    """rows before the block that are used, too: to tune, and to calibrate a member that is kept"""


@dataclass(frozen=True)
class CertificateContent:
    """All that is said, promised and signed.

    A section that may be missing has a default and is left out of the JSON where it has none: so that later versions
    can add one without changing a certificate that was signed without it.
    """

    id: str
    predictor_id: str
    issued_at: str
    statement: str
    assumptions: list[str]
    coverage: Coverage
    members: list[Member]
    efficiency: Efficiency
    provenance: Provenance
    signature: str | None
    """ed25519:PUBLIC KEY:SIGNATURE, in base64"""
    format: int = 1
    """1: without anything below"""
    caveats: list[Caveat] = field(default_factory=list)
    data: Data | None = None
    options: dict[str, Any] | None = None
    """every option of the fit, with its defaults filled in"""
    model: ModelFacts | None = None
    names: Names | None = None
    size_statement: str | None = None
    """what is promised about the size, in one sentence"""
    account: Account | None = None
    deployment: DeploymentAccount | None = None
    canaries: Canaries | None = None
    """what the members say about made-up inputs, for whoever loads them"""
    selection: Selection | None = None
    """what the fit compared on revealed rows, and why it chose"""
    shift: Shift | None = None
    """for whom the promise is, where that is another population than that of the rows"""
    levels: Levels | None = None
    """where the promise is for all alpha at once"""
    groups: list[Group] | None = None

    def to_json(self) -> dict[str, Any]:
        if self.format == 1:
            return only_format_1(written(self, all_fields=True))
        return written(self)

    @property
    def digest(self) -> str:
        """SHA-256 of everything but names, time, accounts, signature and machine: equal for equal fits."""
        content = self.to_json()
        for name in ("software", "device"):
            content["provenance"].pop(name)
        (content.get("data") or {}).pop("file_sha256", None)
        return digest_of(content)

    @property
    def digest_id(self) -> str:
        """What ``id`` must be: the certificate's name is made of its content."""
        return f"cert-{self.digest[:20]}"
