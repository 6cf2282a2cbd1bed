"""Messages between the worker and its fitting process: one JSON object per line, nothing pickled.

The worker writes ``{"fit": FitJob}`` or ``{"batch": BatchJob}``, and ``{"stop": attempt}``; the fitting process answers
with ``{"rows": RowSketch}`` when a fit begins, ``{"progress": ...}`` and one of ``{"done": FitResult or BatchAnswer}``,
``{"failed": Failure}``, ``{"stopped": true}``.
"""

import json
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, TypeAlias


@dataclass(frozen=True)
class FitJob:
    kind: ClassVar[str] = "fit"
    attempt: str
    """the lease token; a request to stop names it, so that it cannot affect the next job"""
    artifacts_url: str
    dataset_artifact: str
    row_key: str
    """the artifact with the key of row hashes"""
    model_artifact: str
    manifest: dict[str, Any]
    options: dict[str, Any]
    device: str
    graph_memory: int
    """bytes that a foreign graph may use"""
    graph_seconds: float
    """that it may take for some rows"""
    target_artifact: str | None = None
    """inputs of another population, for which weights are estimated"""


@dataclass(frozen=True)
class BatchJob:
    kind: ClassVar[str] = "batch"
    attempt: str
    artifacts_url: str
    scratch: str
    """a folder for the answer while it is written, and for copies of what a remote store has"""
    predictor_artifact: str
    description: dict[str, Any]
    """manifest and scoring: how to read the artifact's tensors"""
    certificate: str
    """the document, whose signature was checked"""
    dataset_artifact: str
    members_artifact: str | None
    """who answers for each row, where cases say so"""
    member: int | None
    """who answers for all of them, where one is served alone"""
    alpha: float | None
    cases: str | None
    device: str
    graph_memory: int
    graph_seconds: float


Job: TypeAlias = FitJob | BatchJob


@dataclass(frozen=True)
class BatchAnswer:
    artifact: str
    stored_bytes: int


@dataclass(frozen=True)
class Failure:
    reason: str
    """a sentence for the user"""
    final: bool
    """another attempt would not help"""


def line(kind: str, content: Any) -> bytes:
    value = asdict(content) if hasattr(content, "__dataclass_fields__") else content
    return json.dumps({kind: value}, allow_nan=False, separators=(",", ":")).encode() + b"\n"
