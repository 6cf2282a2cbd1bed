"""A certificate as the client shows it; `document` is the whole, which is what was signed."""

from typing import Any

from service.client.answers import Answer


class Coverage(Answer):
    alpha: float
    delta: float
    guarantee: str
    """per_draw: every member; posterior: the mean over the posterior"""
    bound: str
    n: int
    kl: float
    kl_budget: float | None
    miscoverage_bound: float
    pool_miscoverage_bound: float
    alpha_hat: float
    k: int


class Efficiency(Answer):
    measure: str
    """labels, width or volume"""
    gamma: float
    empirical: float
    upper_bound: float | None
    cap: float | None


class Certificate(Answer):
    id: str
    predictor_id: str
    issued_at: str
    statement: str
    """the promise, in one sentence"""
    assumptions: tuple[str, ...]
    coverage: Coverage
    efficiency: Efficiency
    signature: str | None
    document: dict[str, Any]

    @classmethod
    def of(cls, document: dict[str, Any]) -> "Certificate":
        return cls.model_validate({**document, "document": document})
