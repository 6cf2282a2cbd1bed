"""Nonconformity scores, one a file, behind one protocol; `make_score` finds one by its name."""

from collections.abc import Callable, Mapping
from typing import Any

from core.errors import OptionError
from core.scores.aps import Aps, Raps
from core.scores.ball import Ball, scaled_ball
from core.scores.box import Box
from core.scores.cqr import Cqr
from core.scores.lac import Lac
from core.scores.log_prob import LogProb
from core.scores.protocol import Prediction, Score, Task
from core.scores.residual import Residual, scaled_residual

__all__ = ["SCORES", "Prediction", "Score", "Task", "make_score", "without_scale"]

SCORES: dict[str, Callable[..., Score]] = {
    "log_prob": LogProb,
    "lac": Lac,
    "aps": Aps,
    "raps": Raps,
    "residual": Residual,
    "scaled_residual": scaled_residual,
    "cqr": Cqr,
    "ball": Ball,
    "box": Box,
    "scaled_ball": scaled_ball,
}

_OPTIONS = {"raps": {"penalty", "free"}}


def make_score(description: str | Mapping[str, Any]) -> Score:
    """A score from its name, or from ``{"kind": name, ...options}``."""
    if not isinstance(description, str | Mapping):
        raise OptionError(f"score must be a name or an object with a kind, not {description!r}.")
    options = {"kind": description} if isinstance(description, str) else dict(description)
    kind = options.pop("kind", None)
    if not isinstance(kind, str) or kind not in SCORES:
        raise OptionError(f"score kind must be one of {', '.join(SCORES)}, not {kind!r}.")
    unknown = set(options) - _OPTIONS.get(kind, set())
    if unknown:
        raise OptionError(f"score {kind} has no option {sorted(unknown)[0]!r}.")
    return SCORES[kind](**options)


def without_scale(score: Score) -> Score:
    """The data-independent score that a scaled one starts from: what the standard method uses."""
    return make_score(score.kind.removeprefix("scaled_")) if score.has_scale else score
