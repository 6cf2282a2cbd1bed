"""Served sets in OpenAPI. They are written by hand, and so described by hand; each kind of set describes itself."""

from typing import Any

from certiset.core.resources import Promise
from certiset.core.sets import SET_KINDS

_SET: dict[str, Any] = {"oneOf": [kind.json_schema() for kind in SET_KINDS.values()]}
_PROMISE: dict[str, Any] = {"$ref": f"#/components/schemas/{Promise.__name__}"}
_DEPLOYED: dict[str, Any] = {
    "type": "object",
    "description": "where the name of a deployment was asked: the name, and the version that answered",
    "required": ["name", "version"],
    "properties": {"name": {"type": "string"}, "version": {"type": "integer"}},
}
PREDICTION: dict[str, Any] = {
    "type": "object",
    "required": ["prediction_id", "predictor", "member", "set", "certificate"],
    "properties": {
        "prediction_id": {"type": "string"},
        "predictor": {"type": "string"},
        "deployment": _DEPLOYED,
        "member": {"type": "integer"},
        "group": {
            "description": "of the input, where groups have thresholds of their own: its name, or the value of each "
            "column where columns cross; null for a group that has none",
            "anyOf": [
                {"type": "string"},
                {"type": "array", "items": {"type": "string"}},
                {"type": "null"},
            ],
        },
        "whole_space": {
            "description": "why everything is in the set, if that is because of its group",
            "enum": ["unknown_group", "too_few_rows"],
        },
        "set": _SET,
        "certificate": _PROMISE,
    },
}
PREDICTIONS: dict[str, Any] = {
    "type": "object",
    "required": ["predictor", "certificate", "predictions"],
    "properties": {
        "predictor": {"type": "string"},
        "deployment": _DEPLOYED,
        "certificate": _PROMISE,
        "predictions": {"type": "array", "items": PREDICTION},
    },
}
