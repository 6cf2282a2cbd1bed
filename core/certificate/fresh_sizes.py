"""A statement about the size of a predictor's sets, made on fresh inputs: whoever has it can compute it again.

Thresholds were fixed before these inputs were seen, so that no grid is needed, and truths are not needed at all. It
stands beside the predictor's certificate, with a gamma and a provenance of its own.
"""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from certiset.core.bounds import SizeCounts
from certiset.core.certificate.card import statement_card
from certiset.core.certificate.checks import Check, close, equal
from certiset.core.certificate.content import FORMAT, Caveat
from certiset.core.certificate.digest import digest_of
from certiset.core.certificate.fresh_groups import FreshGroup, shared_gamma
from certiset.core.certificate.json_text import parse
from certiset.core.certificate.names import Names
from certiset.core.certificate.rounding import at_most, promise, total_risk
from certiset.core.certificate.size_cap import cut_clause
from certiset.core.certificate.strict_json import read, written
from certiset.core.certificate.verification import Verification, verified
from certiset.core.display import Card, Shown
from certiset.core.errors import DamagedFileError
from certiset.core.sets.measures import MEASURES

KIND = "sizes"
BOUND = "betting"
_ROUNDING = 1e-9
_ASSUMPTIONS = [
    "The inputs were drawn independently, from the distribution that future inputs come from. After a drift the "
    "statement is void.",
    "The inputs were used for nothing else: neither to train, tune, calibrate or choose the predictor, nor to choose "
    "the cap of sizes, gamma or the member.",
    "The statement was not chosen among several by what they say. The account counts those that are known.",
    "The mean is over future inputs, not for each single input or group of inputs.",
]


@dataclass(frozen=True)
class FreshSizes:
    """The numbers."""

    measure: str
    """labels, width or volume"""
    bound: str
    """betting"""
    gamma: float
    upper_bound: float
    """on the mean size of future sets, sizes being cut at ``cap``"""
    empirical: float
    """the mean of the sizes as they are counted: rounded up, and cut at ``cap``"""
    cap: float
    """above which sizes count as this; for labels the number of classes, which nothing exceeds"""
    members: int
    """of the predictor"""
    rows: int
    distinct_rows: int
    """of which no two inputs are the same"""
    steps: int
    """sizes are counted in steps of cap / steps"""
    counts: list[list[int]]
    """[level, rows]: so many rows have a set, or a mean over members, of that many steps"""
    member: int | None = None
    """the one that answers for every input; absent where each input draws one"""
    weights: list[float] | None = None
    """the chance of each member to be drawn; absent where all have the same"""
    groups: list[FreshGroup] | None = None
    """where groups have thresholds of their own: those of which there were inputs"""
    without: int | None = None
    """inputs of groups without a threshold, in whose sets everything is: not among ``rows``"""

    @property
    def share(self) -> float:
        """The part of gamma that each bound has."""
        return self.gamma if self.groups is None else shared_gamma(self.gamma, len(self.groups))


@dataclass(frozen=True)
class SizeProvenance:
    certificate_id: str
    """of the predictor, which says how often its sets contain the truth"""
    members_sha256: str
    inputs_sha256: str
    software: dict[str, str]
    predictor_sha256: str | None = None
    file_sha256: str | None = None
    """of the file that the inputs were uploaded in"""


@dataclass(frozen=True)
class SizeAccount:
    """Which statement about this predictor it is; counted by whoever signs, and not part of the digest."""

    number: int
    """1 for the first"""
    gamma_all: float
    """the sum of the gammas of all up to this one"""
    statement: str

    @classmethod
    def of(cls, number: int, gamma_all: float) -> "SizeAccount":
        return cls(number, gamma_all, account_statement(number, gamma_all))


@dataclass(frozen=True, repr=False)
class SizeStatement(Shown):
    """All that is said, promised and signed."""

    kind: str
    """sizes"""
    id: str
    predictor_id: str
    issued_at: str
    statement: str
    assumptions: list[str]
    sizes: FreshSizes
    provenance: SizeProvenance
    signature: str | None
    format: int = FORMAT
    """of the certificates beside which it stands"""
    caveats: list[Caveat] = field(default_factory=list)
    account: SizeAccount | None = None
    names: Names | None = None

    def card(self) -> Card:
        return statement_card(self)

    @property
    def upper_bound(self) -> float:
        """On the mean size of future sets."""
        return self.sizes.upper_bound

    @property
    def digest(self) -> str:
        """SHA-256 of everything but names, time, account, signature and software: equal for equal inputs."""
        content = self.to_json()
        for name in ("software", "file_sha256"):
            content["provenance"].pop(name, None)
        return digest_of(content)

    @property
    def digest_id(self) -> str:
        return f"size-{self.digest[:20]}"

    def to_json(self) -> dict[str, Any]:
        content: dict[str, Any] = written(self)
        return content

    @classmethod
    def from_json(cls, source: Mapping[str, Any] | str) -> "SizeStatement":
        """Reads `to_json` back, from a mapping or JSON text; anything else is refused with the field's name."""
        content = parse(source, "the size statement") if isinstance(source, str) else source
        if isinstance(content, Mapping) and content.get("format") != FORMAT:
            raise DamagedFileError(f"the size statement is not of format {FORMAT}, which this version reads.")
        return read(cls, content, "size statement")

    def verify(self, trusted: str | Collection[str] | None = None) -> Verification:
        """Recomputes the bound from the counts, and checks the signature; ``trusted`` as for a certificate."""
        return verified(self, lambda: _checks(self), trusted)


def is_size_statement(content: object) -> bool:
    """Whether a document says that it is one."""
    return isinstance(content, Mapping) and content.get("kind") == KIND


def size_sentence(sizes: FreshSizes) -> str:
    """What is promised, in one sentence."""
    if sizes.member is not None:
        who = f", all of them by member {sizes.member},"
    elif sizes.members > 1:
        who = ", each by a member drawn at random,"
    else:
        who = ""
    if sizes.groups is not None:
        who += " of groups that have a threshold"
    return (
        f"With probability at least {promise(sizes.gamma)} over the {sizes.rows:,} fresh inputs that it was measured "
        f"on, the mean size ({sizes.measure}) of future sets{who} is at most {at_most(sizes.upper_bound)}"
        f"{MEASURES[sizes.measure].unit}{cut_clause(sizes.measure, sizes.cap)}{_of_each_group(sizes)}."
    )


def _of_each_group(sizes: FreshSizes) -> str:
    if sizes.groups is None:
        return ""
    groups = f"each of the {len(sizes.groups)} groups" if len(sizes.groups) > 1 else "the one group"
    return f"; and, all at once, that of {groups} of these inputs is at most what its line states"


def size_assumptions() -> list[str]:
    return list(_ASSUMPTIONS)


def account_statement(number: int, gamma_all: float) -> str:
    if number == 1:
        return "This is the first statement of its kind about the predictor."
    return (
        f"This is statement number {number} of its kind about the predictor: all of them hold at once with probability "
        f"at least {promise(min(gamma_all, 1.0))}, and for the smallest of them nothing more is promised."
    )


def size_counts(sizes: FreshSizes) -> SizeCounts:
    return SizeCounts.from_json(sizes.steps, sizes.counts)


def upper_bound_of(counts: SizeCounts, gamma: float, cap: float) -> float:
    """In units of size, rounded up."""
    return math.nextafter(cap * counts.upper_bound(gamma), math.inf)


def size_account(gammas: Collection[float]) -> SizeAccount:
    """Of statements with these gammas, the last of which is this one."""
    whole = 0.0
    for gamma in gammas:
        whole = total_risk(whole, gamma)
    return SizeAccount.of(len(gammas), whole)


def _checks(found: SizeStatement) -> list[Check]:
    sizes, weights = found.sizes, found.sizes.weights
    checks = [
        equal("kind", KIND, found.kind),
        equal("id", found.digest_id, found.id),
        Check("measure", sizes.measure in MEASURES, list(MEASURES), sizes.measure),
        equal("bound", BOUND, sizes.bound),
        Check("risk", 0 < sizes.gamma < 1, "in (0, 1)", sizes.gamma),
        Check("cap", sizes.cap > 0, "positive", sizes.cap),
        Check("members", sizes.members >= 1, "at least one", sizes.members),
    ]
    if sizes.member is not None:
        checks.append(Check("member", 0 <= sizes.member < sizes.members, f"below {sizes.members}", sizes.member))
    if weights is not None:
        fair = len(weights) == sizes.members and min(weights) >= 0 and abs(math.fsum(weights) - 1) <= _ROUNDING
        checks.append(Check("weights", fair, "one for each member, 1 in all", weights))
    if not all(check.ok for check in checks):
        return checks
    counts = size_counts(sizes)
    if MEASURES[sizes.measure].is_count:
        checks.append(Check("steps", sizes.steps % int(sizes.cap) == 0, f"a multiple of {sizes.cap}", sizes.steps))
    if found.account is not None:
        account = found.account
        checks.append(equal("account", account_statement(account.number, account.gamma_all), account.statement))
        checks.append(Check("risk of all", account.gamma_all >= sizes.gamma, sizes.gamma, account.gamma_all))
    return [
        *checks,
        equal("rows", counts.rows, sizes.rows),
        Check("distinct rows", 1 <= sizes.distinct_rows <= sizes.rows, f"at most {sizes.rows}", sizes.distinct_rows),
        close("mean size", sizes.cap * counts.mean, sizes.empirical),
        close("mean size bound", upper_bound_of(counts, sizes.share, sizes.cap), sizes.upper_bound),
        *_group_checks(sizes),
        equal("statement", size_sentence(sizes), found.statement),
        equal("assumptions", size_assumptions(), found.assumptions),
    ]


def _group_checks(sizes: FreshSizes) -> list[Check]:
    if sizes.groups is None:
        return []
    names = [tuple(group.name) for group in sizes.groups]
    checks = [
        equal("rows of groups", sizes.rows, sum(group.rows for group in sizes.groups)),
        equal("names of groups", len(names), len(set(names))),
        Check("inputs without a threshold", (sizes.without or 0) >= 0, "at least 0", sizes.without),
    ]
    for group in sizes.groups:
        counts, name = group.size_counts(sizes.steps), ", ".join(group.name)[:60]
        checks += [
            equal(f"rows of group {name}", counts.rows, group.rows),
            close(f"mean size of group {name}", sizes.cap * counts.mean, group.empirical),
            close(f"bound of group {name}", upper_bound_of(counts, sizes.share, sizes.cap), group.upper_bound),
        ]
    return checks
