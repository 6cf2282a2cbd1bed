"""Votes of a forest, which tie: predictors of each rule for ties and empty sets."""

from typing import Any

from certiset.core.fit import Predictor, fit
from tests.core.fit.problems import (
    forest_votes,
    shifted_logits_model,
)

RULES: dict[str, dict[str, Any]] = {
    "ties": {"ties": "hash"},
    "top": {"non_empty": True},
    "both": {"ties": "hash", "non_empty": True},
}
MODEL = shifted_logits_model()
"""takes six logits as they are"""


def forest(**options: Any) -> Predictor:
    return fit(MODEL, *forest_votes(500, 0), method="standard", **options)
