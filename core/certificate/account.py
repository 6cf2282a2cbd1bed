"""The account: how many fits have been tried on the same rows, and what may be promised for the best of them.

**Statement.** If the settings of j fits were fixed without looking at each other's results, all j promises hold at once
with probability at least 1 minus the sum of their risks, whatever their data have in common, and so does the promise of
whichever is chosen in the end. *Proof:* the union bound; each risk is over rows that its settings do not depend on.

Where settings were changed in view of earlier results, they depend on the rows, and nothing of this holds: only
fresh rows help.
"""

from certiset.core.certificate.checks import Check, equal
from certiset.core.certificate.content import Account, CertificateContent
from certiset.core.certificate.rounding import promise, risk, total_risk, without_noise


def account_of(attempt: int, delta_all: float, family: int) -> Account:
    risks = without_noise(delta_all)
    return Account(attempt, risks, family, _sentence(attempt, risks, family))


def family_of(certificate: CertificateContent) -> int:
    """How many attempts were planned beforehand; 1 before that could be said."""
    planned = (certificate.options or {}).get("family", 1)
    return planned if type(planned) is int and planned > 0 else 1


def family_sentence(certificate: CertificateContent) -> str:
    """What follows the certificate's sentence where several attempts were planned."""
    planned = family_of(certificate)
    if planned == 1:
        return ""
    whole = float((certificate.options or {})["delta"])
    if certificate.coverage.pool_delta:
        whole = total_risk(whole, whole)
    return (
        f" It is one of {planned} planned attempts on these rows, which share the risk of {risk(whole)}: their "
        "promises hold all at once, and so does that of the best one, with probability at least "
        f"{promise(min(whole, 1.0))}."
    )


def account_checks(certificate: CertificateContent) -> list[Check]:
    account = certificate.account
    if account is None:
        return []
    own = certificate.coverage.delta + certificate.coverage.pool_delta
    return [
        Check("attempt", account.attempt >= 1, "at least 1", account.attempt),
        equal("family", family_of(certificate), account.family),
        # At least its own risk, but for the rounding of sums.
        Check("risk of all attempts", account.delta_all >= own * (1 - 1e-9), f"at least {own}", account.delta_all),
        equal("account", _sentence(account.attempt, account.delta_all, account.family), account.statement),
    ]


def _sentence(attempt: int, delta_all: float, family: int) -> str:
    if attempt == 1:
        return "This is the first attempt on these rows that the issuer knows of."
    planned = ""
    if attempt > family > 1:
        planned = f", although only {family} were planned"
    said = f"This is attempt {attempt} on these rows{planned}. "
    if delta_all >= 1:
        return said + f"Nothing is promised for the best of the {attempt} without fresh rows."
    return said + (
        f"The best of the {attempt} keeps its promise with probability at least {promise(delta_all)}, if the settings "
        "of all were fixed without looking at each other's results; otherwise nothing is promised for it without fresh "
        "rows."
    )
