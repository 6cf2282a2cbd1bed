"""Served sets in OpenAPI. They are written by hand, and so described by hand; each kind of set describes itself."""

from typing import Any

from certiset.core.resources import Promise
from certiset.core.sets import SET_KINDS

_SET: dict[str, Any] = {"oneOf": [kind.json_schema() for kind in SET_KINDS.values()]}
_PROMISE: dict[str, Any] = {"$ref": f"#/components/schemas/{Promise.__name__}"}
PREDICTION: dict[str, Any] = {
    "type": "object",
    "required": ["prediction_id", "predictor", "member", "set", "certificate"],
    "properties": {
        "prediction_id": {"type": "string"},
        "predictor": {"type": "string"},
        "member": {"type": "integer"},
        "set": _SET,
        "certificate": _PROMISE,
    },
}
PREDICTIONS: dict[str, Any] = {
    "type": "object",
    "required": ["predictor", "certificate", "predictions"],
    "properties": {
        "predictor": {"type": "string"},
        "certificate": _PROMISE,
        "predictions": {"type": "array", "items": PREDICTION},
    },
}
