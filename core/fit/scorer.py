"""The randomised part of a predictor: which parameters theta holds, and what they make of the features."""

import math
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from certiset.core.errors import OptionError
from certiset.core.fit.options import FitOptions, Tune
from certiset.core.fit.rows import Rows
from certiset.core.fit.set_rules import PLAIN, SetRule, make_rule
from certiset.core.fit.ties import Threshold
from certiset.core.models import Model
from certiset.core.models.backbones.none import NoneSpec
from certiset.core.posterior.network import ScaleNetwork
from certiset.core.scores import ModelOutputs, Score


@dataclass(frozen=True)
class Scorer:
    """Maps theta (D, d) and rows to predictions; theta holds the head's parameters, the scale's, or both in turn."""

    model: Model
    score: Score
    tunes_head: bool
    scale: ScaleNetwork | None
    exponent: int = 0
    """scores, thresholds and sets are computed in units of 2^exponent"""
    rule: SetRule = PLAIN
    """how sets are made of scores"""

    @cached_property
    def multiplies(self) -> bool:
        """Whether sets may come of products of matrices: a backbone's or a head's, the scale's, or the score's own."""
        model = self.model
        as_given = model.is_in_process or isinstance(model.manifest.backbone, NoneSpec)
        has_layers = self.tunes_head or self.scale is not None or model.manifest.head.has_layers
        return has_layers or not (as_given and self.score.keeps_rows_apart)

    @property
    def head_size(self) -> int:
        return self.model.head.parameters if self.tunes_head else 0

    @property
    def parameters(self) -> int:
        return self.head_size + (self.scale.parameters if self.scale is not None else 0)

    def fan_in(self) -> Tensor:
        parts = [self.model.head.fan_in()] if self.tunes_head else []
        parts += [self.scale.fan_in()] if self.scale is not None else []
        return torch.cat(parts) if parts else torch.zeros(0)

    def initial(self, generator: torch.Generator) -> Tensor:
        """(d,): the head as given, and a random start for the scale."""
        parts = [self.model.head_parameters.to(generator.device)] if self.tunes_head else []
        parts += [self.scale.initial(generator)] if self.scale is not None else []
        return torch.cat(parts) if parts else torch.zeros(0)

    def in_targets_unit(self, tau: float) -> float:
        """A threshold as the certificate states it."""
        try:
            return math.ldexp(tau, self.exponent)
        except OverflowError:
            return math.inf

    def predict(self, theta: Tensor, rows: Rows) -> ModelOutputs:
        """For theta (D, d)."""
        return self.predict_from(theta, rows.features, rows.outputs)

    def predict_from(self, theta: Tensor, features: Tensor, outputs: Tensor) -> ModelOutputs:
        """The same of what the backbone and the model as given make of the rows."""
        outputs = outputs.unsqueeze(0)
        if self.tunes_head:
            outputs = self.model.head.forward(theta[:, : self.head_size], features)
        if self.exponent:
            outputs = times_power_of_two(outputs, -self.exponent)
        scale = None
        if self.scale is not None:
            scale = self.scale.forward(theta[:, self.head_size :], features)
        return ModelOutputs(outputs, scale)

    def size(self, prediction: ModelOutputs, threshold: Threshold, rows: Rows) -> Tensor:
        """(D, n): of the sets that these thresholds give the rows."""
        return self.rule.size(self.score, prediction, threshold, rows.digests)


def times_power_of_two(values: Tensor, exponent: int) -> Tensor:
    """Exact but for over- and underflow of the result: the factor itself may be no float of that type."""
    while exponent:
        step = max(-_STEP, min(_STEP, exponent))
        values, exponent = values * 2.0**step, exponent - step
    return values


_STEP = 100


def make_scorer(
    model: Model, options: FitOptions, score: Score, *, tuned: bool, features: int, exponent: int = 0
) -> Scorer:
    """``tuned`` is false for the standard method, which randomises and learns nothing."""
    rule = make_rule(options, score)
    if not tuned:
        return Scorer(model, score, tunes_head=False, scale=None, exponent=exponent, rule=rule)
    tune: Tune = options.tune
    if tune == "auto":
        tune = "score" if score.has_scale else "head"
    if tune in ("score", "both") and not score.has_scale:
        raise OptionError(f"score {score.kind} has no parameters of its own to tune: choose tune = head.", field="tune")
    if tune == "head" and score.has_scale:
        raise OptionError(f"score {score.kind} has a scale to learn: choose tune = score or both.", field="tune")
    return Scorer(
        model,
        score,
        tunes_head=tune in ("head", "both"),
        scale=ScaleNetwork(features) if tune in ("score", "both") else None,
        exponent=exponent,
        rule=rule,
    )
