"""Nonconformity scores, one per file, found by name in `SCORES`.

A score of your own is a subclass of `Score` and an entry point in the group ``certiset.scores``.
"""

from collections.abc import Mapping
from typing import Any

from certiset.core.errors import OptionError
from certiset.core.registry import Registry
from certiset.core.scores.base import ModelOutputs, Score
from certiset.core.tasks import Task
from certiset.core.validation import validated

__all__ = ["DEFAULT_SCORES", "SCORES", "ModelOutputs", "Score", "default_score", "make_score"]

SCORES: Registry[type[Score]] = Registry("score", __name__, Score, group="certiset.scores")

DEFAULT_SCORES: dict[Task, str] = {"classification": "log_prob", "regression": "scaled_residual"}


def default_score(task: Task) -> Score:
    """What is used if no score is asked for."""
    return make_score(DEFAULT_SCORES[task])


def make_score(description: str | Mapping[str, Any] | Score) -> Score:
    """A score from its name, or from ``{"kind": name, ...options}``."""
    if isinstance(description, Score):
        return description
    if not isinstance(description, str | Mapping):
        raise OptionError(f"score must be a name or an object with a kind, not {description!r}.", field="score")
    options = {"kind": description} if isinstance(description, str) else dict(description)
    if "kind" not in options:
        raise OptionError("score.kind is missing.", field="score.kind")
    kind = SCORES.get(options.pop("kind"), field="score.kind")
    # null stands for the default, as in every other place.
    return validated(kind, {name: value for name, value in options.items() if value is not None}, "score")
