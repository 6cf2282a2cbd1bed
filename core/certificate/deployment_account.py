"""What a certificate says about the deployment whose reported outcomes calibrated it.

**Statement.** Let every block of outcomes, and every predictor that was set by hand, have its own risk. All promises
of the deployment up to this one hold at once with probability at least 1 minus the sum of these risks. *Proof:* given
what came before a block began, its rows are draws of their own, so that its promise fails with probability at most its
risk; then the union bound. A block of which no predictor came counts as well, since that may depend on its rows.

That its rows are such draws is an assumption: truths are reported regardless of the set, and of what they are. Beside
it stands which share of what was asked came back.
"""

from certiset.core.certificate.checks import Check, equal
from certiset.core.certificate.content import CertificateContent, DeploymentAccount
from certiset.core.certificate.rounding import about, promise, risk, without_noise


def deployment_account(
    name: str,
    block: int,
    rows: int,
    issued: int,
    delta_all: float,
    spend: tuple[float, int] | None = None,
    kept: int | None = None,
) -> DeploymentAccount:
    """``spend`` is the total and over how many predictors it is to last, where that was fixed beforehand.

    ``kept`` is how many rows before the block tuned the members, or calibrated the one that is kept.
    """
    total, over = spend or (None, None)
    delta_all = without_noise(delta_all)
    sentence = _sentence(name, block, rows, issued, delta_all, total, kept)
    return DeploymentAccount(name, block, rows, issued, delta_all, sentence, total, over, kept)


def deployment_checks(certificate: CertificateContent) -> list[Check]:
    found = certificate.deployment
    if found is None:
        return []
    own = certificate.coverage.delta + certificate.coverage.pool_delta
    checks = [
        Check("block", found.block >= 1 and found.rows >= 1 and found.issued >= 0, "counts", found.block),
        Check("risk of the deployment", found.delta_all >= own * (1 - 1e-9), f"at least {own}", found.delta_all),
        equal(
            "deployment",
            _sentence(found.name, found.block, found.rows, found.issued, found.delta_all, found.total, found.kept),
            found.statement,
        ),
    ]
    if found.total is not None:
        within = found.delta_all <= found.total * (1 + 1e-9)
        checks.append(Check("total risk", within, f"at most {found.total}", found.delta_all))
    return checks


def _sentence(
    name: str, block: int, rows: int, issued: int, delta_all: float, total: float | None, kept: int | None
) -> str:
    share = f", {about(min(1.0, rows / issued))} of those asked meanwhile" if issued else ""
    said = (
        f"Calibrated on block {block} of the deployment {name}: {rows:,} inputs that were asked there and whose truths "
        f"were reported{share}. {_kept(kept)}It is assumed that truths are reported regardless of the set and of what "
        "they are. "
    )
    if total is not None:
        return said + (
            f"All promises of this deployment share a risk of {risk(total)}, of which {risk(delta_all)} is spent: up "
            f"to this one they hold all at once with probability at least {promise(delta_all)}."
        )
    if delta_all >= 1:
        return said + "Nothing is promised for all predictors of this deployment at once."
    return said + (
        f"All promises of this deployment up to this one hold at once with probability at least {promise(delta_all)}."
    )


def _kept(rows: int | None) -> str:
    if rows is None:
        return ""
    return (
        f"The newest member is calibrated on these rows alone, and one that is kept on the last of the {rows:,} rows "
        "before them. "
    )
