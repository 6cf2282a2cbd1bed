"""What a certificate says: its parts, its JSON and its digest."""

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Any


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
    """per_draw: every member; posterior: the mean over the posterior"""
    bound: str
    """vovk_2a, vovk_2b, per_draw, seeger or chernoff"""
    n: int
    """points of D_N, not used for tuning"""
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
    k: int
    draws: int
    """how many members were drawn, served or not"""
    ranks: list[int]
    """the ranks open to a draw, fixed before D_N was seen"""
    rank_weights: list[float]
    union: Union

    def share(self, whole: float) -> float:
        """The part of delta or gamma that the choice taken was given."""
        return whole * self.union.weights[self.union.taken]


@dataclass(frozen=True)
class Member:
    member: int
    k: int
    tau: float
    log_ratio: float
    miscoverage_bound: float | None
    efficiency_empirical: float | None
    efficiency_bound: float | None
    """in units of size"""


@dataclass(frozen=True)
class Efficiency:
    measure: str
    """labels, width or volume"""
    bound: str | None
    """grid_kl or monotone; null where the size has no cap and nothing is certified"""
    gamma: float
    empirical: float
    """mean size on D_N"""
    upper_bound: float | None
    """on the mean of the size capped at ``cap``, for future inputs"""
    cap: float | None
    grid_size: int | None
    monte_carlo: float
    """share of gamma spent on having only finitely many draws"""


@dataclass(frozen=True)
class Provenance:
    dataset_sha256: str
    model_sha256: str
    members_sha256: str
    n_tune: int
    n_calibrate: int
    seed: int
    software: dict[str, str]
    device: str
    method: str
    score: str
    messages: list[str]
    """what happened on the way that a reader should know"""


@dataclass(frozen=True)
class CertificateContent:
    """All that is said, promised and signed."""

    id: str
    predictor_id: str
    issued_at: str
    statement: str
    assumptions: list[str]
    coverage: Coverage
    members: list[Member]
    efficiency: Efficiency
    provenance: Provenance
    signature: str | None = None
    """ed25519:PUBLIC KEY:SIGNATURE, in base64"""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def digest(self) -> str:
        """SHA-256 of everything but the name, the time, the signature and the machine: equal for equal fits."""
        content = self.to_json()
        for name in ("id", "issued_at", "signature"):
            content.pop(name)
        for name in ("software", "device"):
            content["provenance"].pop(name)
        text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def digest_id(self) -> str:
        """What ``id`` must be: the certificate's name is made of its content."""
        return f"cert-{self.digest[:20]}"
