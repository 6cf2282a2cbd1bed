"""Messages between the worker and its fitting process: one JSON object per line, nothing pickled.

The worker writes ``{"job": Job}`` and ``{"stop": attempt}``; the fitting process answers with ``{"rows": RowSketch}``
when the fit begins, ``{"progress": ...}`` and one of ``{"done": FitResult}``, ``{"failed": Failure}``,
``{"stopped": true}``.
"""

import json
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Job:
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


@dataclass(frozen=True)
class Failure:
    reason: str
    """a sentence for the user"""
    final: bool
    """another attempt would not help"""


def line(kind: str, content: Any) -> bytes:
    value = asdict(content) if hasattr(content, "__dataclass_fields__") else content
    return json.dumps({kind: value}, allow_nan=False, separators=(",", ":")).encode() + b"\n"
