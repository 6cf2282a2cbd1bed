"""What is known of the model, and what people call the things that a certificate is about."""

from dataclasses import dataclass


@dataclass(frozen=True)
class ModelFacts:
    """Why the model is a function of one row, which is what the promise is about; and its classes."""

    rows: str
    """proved: batches are computed as their rows would be one by one; one_by_one: every row is a call of its own;
    assumed: a model in its owner's process, of which some rows were compared alone and in company"""
    labels: list[str] | None = None
    """names of the classes, in the order of their numbers"""


@dataclass(frozen=True)
class Names:
    """What people call the things that the certificate is about, and who signed it; not part of its digest."""

    model: str | None = None
    dataset: str | None = None
    issuer: str | None = None
    key_id: str | None = None
    """of the signature's key: the beginning of its SHA-256"""
    imported: str | None = None
    """where whoever signed has not seen the data: what was taken over instead"""
