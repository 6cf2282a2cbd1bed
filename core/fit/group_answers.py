"""What an answer says about the group of an input: which threshold it got, or why everything is in its set."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from certiset.core.fit.predictor import Predictor

UNKNOWN_GROUP, TOO_FEW_ROWS = "unknown_group", "too_few_rows"


def group_words(predictor: Predictor, code: int) -> dict[str, Any]:
    """For one set: its group, and where everything is in it the reason."""
    rule, groups = predictor.groups, predictor.certificate.groups or []
    if rule is None:
        return {}
    name = rule.shown(code)
    if name is None:
        return {"group": None, "whole_space": UNKNOWN_GROUP}
    return {"group": name} if groups[code].tau is not None else {"group": name, "whole_space": TOO_FEW_ROWS}


def all_group_words(predictor: Predictor) -> list[dict[str, Any]]:
    """By the place of the group, and one beyond."""
    rule = predictor.groups
    return [] if rule is None else [group_words(predictor, code) for code in range(rule.count + 1)]


def group_columns(predictor: Predictor, codes: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
    """For many: names (values of columns that cross are joined by a comma; empty for unknown groups) and reasons."""
    said = all_group_words(predictor)
    names = ["" if one["group"] is None else one["group"] for one in said]
    joined = [name if isinstance(name, str) else ", ".join(name) for name in names]
    reasons = [one.get("whole_space", "") for one in said]
    return {"group": _bytes(joined)[codes], "whole_space": _bytes(reasons)[codes]}


def _bytes(texts: list[str]) -> NDArray[np.bytes_]:
    return np.array([text.encode() for text in texts], dtype="S")
