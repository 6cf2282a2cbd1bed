"""What a certificate was made from, with what and where."""

from dataclasses import dataclass


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
    predictor_sha256: str | None = None
    """of the file with the model and the members, as it is stored and saved"""
