"""What a tenant has of everything that is limited, and how much it may have."""

from dataclasses import asdict, dataclass, fields

from certiset.core.errors import LargerThanQuotaError, QuotaExceededError
from certiset.core.settings import Settings


@dataclass(frozen=True)
class Amounts:
    """So much in use, so much wanted, or so much allowed, where 0 is no limit."""

    bytes: int = 0
    """of stored artifacts"""
    rows: int = 0
    """of all data sets"""
    datasets: int = 0
    models: int = 0
    predictors: int = 0
    queued_jobs: int = 0
    running_jobs: int = 0
    deployments: int = 0

    @classmethod
    def allowed(cls, settings: Settings, overrides: dict[str, int]) -> "Amounts":
        """The settings' quotas, or an operator's where they differ."""
        return cls(**{name: overrides.get(name, getattr(settings, f"quota_{name}")) for name in NAMES})


NAMES = tuple(field.name for field in fields(Amounts))

_WORDS = {
    "bytes": "bytes",
    "rows": "rows",
    "datasets": "data sets",
    "models": "models",
    "predictors": "predictors",
    "queued_jobs": "queued jobs",
    "running_jobs": "running jobs",
    "deployments": "deployments",
}
_REMEDIES = {
    "bytes": "delete data sets, models, predictors or batches that are no longer needed",
    "rows": "delete data sets that are no longer needed",
    "datasets": "delete data sets that are no longer needed",
    "models": "delete models that are no longer needed",
    "predictors": "delete predictors that are no longer needed, or wait until calibrations have ended",
    "queued_jobs": "wait until some have begun, or cancel some",
    "deployments": "delete deployments that are no longer needed",
}


def refuse_excess(used: Amounts, wanted: Amounts, allowed: Amounts) -> None:
    """Raises an error that names the first quota that does not suffice, and what to do."""
    for name, amount in asdict(wanted).items():
        limit, before = getattr(allowed, name), getattr(used, name)
        if amount == 0 or limit == 0 or before + amount <= limit:
            continue
        if amount > limit:
            raise LargerThanQuotaError(
                f"This has {amount:,} {_WORDS[name]}, more than the whole quota of {limit:,}: make it smaller, or ask "
                "the operator for a larger quota."
            )
        more = "one more" if amount == 1 else f"{amount:,} more"
        raise QuotaExceededError(
            f"{before:,} of {limit:,} {_WORDS[name]} are in use, which leaves no room for {more}: {_REMEDIES[name]}, "
            "or ask the operator for a larger quota."
        )
