"""What a certificate, a statement about sizes and a verification show of themselves in terminals and notebooks."""

from collections.abc import Sequence
from typing import Any, Protocol

from certiset.core.certificate.checks import Check
from certiset.core.certificate.content import Account, Caveat, Coverage, DeploymentAccount, Efficiency
from certiset.core.certificate.group_content import Group
from certiset.core.certificate.rounding import at_most, promise, total_risk
from certiset.core.certificate.selection import Selection
from certiset.core.certificate.size_cap import cut_of
from certiset.core.display import Card, Table, Tone, listed

_ROWS = 60
_SHORT = 80
"""letters of a number or a list that a check expected or found"""


class Statement(Protocol):
    """What is signed, however it was read."""

    @property
    def id(self) -> str: ...
    @property
    def issued_at(self) -> str: ...
    @property
    def statement(self) -> str: ...
    @property
    def signature(self) -> str | None: ...
    @property
    def caveats(self) -> Sequence[Caveat]: ...


class CertificateParts(Statement, Protocol):
    """What a card shows of a certificate."""

    @property
    def coverage(self) -> Coverage: ...
    @property
    def efficiency(self) -> Efficiency: ...
    @property
    def groups(self) -> Sequence[Group] | None: ...
    @property
    def size_statement(self) -> str | None: ...
    @property
    def account(self) -> Account | None: ...
    @property
    def deployment(self) -> DeploymentAccount | None: ...
    @property
    def selection(self) -> Selection | None: ...


def certificate_card(
    certificate: CertificateParts, *, model: str | None, labels: Sequence[str] | None, by_class: bool, all_levels: bool
) -> Card:
    """``labels``: names of the classes; ``by_class``: whether these are the groups; ``all_levels``: for all alpha."""
    coverage, account, deployed = certificate.coverage, certificate.account, certificate.deployment
    said = [certificate.statement, certificate.size_statement]
    said += [None if deployed is None else deployed.statement]
    risk = total_risk(coverage.delta, coverage.pool_delta)
    facts = [
        ("covers at least", "1 - alpha, for all alpha at once" if all_levels else coverage_promise(coverage)),
        ("with confidence", promise(risk)),
        ("calibrated on", f"{coverage.n} points, by {coverage.bound} ({coverage.guarantee})"),
        *_sizes(certificate),
        *([("model", model)] if model else []),
        *([("classes", listed(labels))] if labels else []),
        *([("chosen", certificate.selection.reason)] if certificate.selection is not None else []),
    ]
    caveats = [caveat.message for caveat in certificate.caveats]
    caveats += [account.statement] if account is not None and account.is_caveat else []
    return Card(
        f"Certificate {certificate.id}",
        _beside(certificate),
        sentences=[sentence for sentence in said if sentence],
        caveats=caveats,
        facts=facts,
        table=_groups(certificate.groups, labels, by_class),
    )


def coverage_promise(coverage: Coverage) -> str:
    """The share of truths that sets as they are served contain."""
    return promise(coverage.pool_miscoverage_bound)


def statement_card(statement: Statement) -> Card:
    return Card(
        f"Statement about sizes {statement.id}",
        _beside(statement),
        sentences=[statement.statement],
        caveats=[caveat.message for caveat in statement.caveats],
    )


def verification_card(verdict: str, tone: Tone, checks: Sequence[Check]) -> Card:
    failed = [check for check in checks if not check.ok]
    return Card(
        "Verification",
        f"{len(checks) - len(failed)} of {len(checks)} checks passed",
        verdict=(tone, verdict),
        facts=[
            (f"failed: {check.name}", f"expected {_brief(check.expected)}, found {_brief(check.found)}")
            for check in failed
        ],
        table=Table(
            ("check", "result"),
            [(check.name, "ok" if check.ok else "FAILED") for check in checks],
            len(checks),
            folded="All checks",
        ),
    )


def group_name(group: Group, labels: Sequence[str] | None) -> str:
    """Its values; of a class its name, where it has one."""
    name = ", ".join(group.name)
    return labels[int(name)] if labels is not None and name.isdecimal() and int(name) < len(labels) else name


def _beside(statement: Statement) -> str:
    signed = "not signed" if statement.signature is None else "signed (verify says by whom)"
    return f"issued {statement.issued_at[:10]}, {signed}"


def _sizes(certificate: CertificateParts) -> list[tuple[str, str]]:
    efficiency = certificate.efficiency
    found = [("size measured", f"{efficiency.empirical:.4g} {efficiency.measure} on average")]
    if efficiency.upper_bound is not None:
        words = f"at most {at_most(efficiency.upper_bound)} {efficiency.measure} on average{cut_of(efficiency)}"
        found.append(("size certified", words))
    return found


def _groups(groups: Sequence[Group] | None, labels: Sequence[str] | None, by_class: bool) -> Table | None:
    if not groups:
        return None
    without = "in every set" if by_class else "everything"
    rows = [
        (
            group_name(group, labels if by_class else None),
            str(group.n),
            without if group.tau is None else "unbounded" if group.size is None else f"{group.size:.4g}",
            "-" if group.upper_bound is None else f"at most {at_most(group.upper_bound)}",
        )
        for group in groups[:_ROWS]
    ]
    return Table(("class" if by_class else "group", "points", "size measured", "size certified"), rows, len(groups))


def _brief(value: Any) -> str:
    text = str(value)
    return text if len(text) <= _SHORT else f"{text[: _SHORT - 1]}…"
