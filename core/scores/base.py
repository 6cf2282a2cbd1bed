"""What every nonconformity score knows and can do, for many draws of its parameters at once."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, final

import torch
from pydantic import BaseModel, ConfigDict
from torch import Tensor

from certiset.core.errors import OptionError
from certiset.core.sets import PredictionSets
from certiset.core.sets.measures import MEASURES
from certiset.core.sets.one_size import OneSize, one_size
from certiset.core.tasks import Task

_PLACES = 32.0


@dataclass(frozen=True)
class ModelOutputs:
    """What the model says about n inputs under each of D draws of the parameters."""

    outputs: Tensor
    """(D, n, outputs): logits, values or quantiles; D = 1 where the draws share them"""
    scale: Tensor | None = None
    """(D, n): the learned scale u(x; theta) > 0, for the scores that have one"""


class Score(BaseModel, ABC):
    """s(x, y; theta): how badly y fits what the model says about x. Larger is worse.

    A subclass is one kind of score; its pydantic fields are the options that users may set. Law: the level set
    {y : score <= tau} is what `level_set` returns, and its size does not decrease in tau. Thresholds ``tau`` are (D,),
    one per draw, or (D, n), one per draw and row.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: ClassVar[str]
    """the name that users choose it by"""
    task: ClassVar[Task]
    sets: ClassVar[type[PredictionSets]]
    """the kind of its level sets"""
    has_scale: ClassVar[bool] = False
    """whether it divides by a learned scale u(x; theta)"""
    is_equivariant: ClassVar[bool] = False
    """whether outputs and targets times a power of two give scores times it: then any unit will do"""
    keeps_rows_apart: ClassVar[bool] = False
    """whether the level set of a row is the same to the last bit whichever rows come with it, which products of
    matrices do not promise"""

    @final
    @property
    def one_size(self) -> OneSize | None:
        """How large all sets of a threshold are, where auditors know it: then their size needs no bound."""
        return one_size(self.kind, self.sets.measure)

    @final
    @property
    def cap_is_fixed(self) -> bool:
        """Whether sizes are numbers of labels: that of all labels is the largest, which nothing replaces."""
        return MEASURES[self.sets.measure].is_count

    def to_json(self) -> dict[str, Any]:
        """Kind and options; `make_score` reads it back."""
        return {"kind": self.kind, **self.model_dump()}

    def without_scale(self) -> "Score":
        """The data-independent score that this one starts from: what the standard method uses."""
        return self

    @abstractmethod
    def check(self, outputs: int, targets: int) -> None:
        """Raises an `OptionError` if the score cannot be used with that many outputs and target columns."""

    @abstractmethod
    def of_target(self, prediction: ModelOutputs, y: Tensor) -> Tensor:
        """(D, n): the score of each row's own target; y is (n,) labels or (n, targets)."""

    @abstractmethod
    def level_set(self, prediction: ModelOutputs, tau: Tensor) -> list[PredictionSets]:
        """The sets {y : score <= tau}, a batch for each draw."""

    @abstractmethod
    def size(self, prediction: ModelOutputs, tau: Tensor) -> Tensor:
        """(D, n): the measure of each level set."""

    @abstractmethod
    def soft_size(self, prediction: ModelOutputs, tau: Tensor, temperature: float) -> Tensor:
        """(D, n): a differentiable stand-in for the size, its limit as the temperature falls to 0."""

    @abstractmethod
    def proper_loss(self, prediction: ModelOutputs, y: Tensor, alpha: float) -> Tensor:
        """(D,): a proper scoring rule for what the score estimates; what a prior may be tuned by."""

    def size_cap(self, outputs: int, tuning_targets: Tensor | None) -> float | None:
        """The size that counts as 1 in the efficiency certificate: the volume that the tuning targets span.

        None where there are no tuning targets, or they span nothing. Depends on no calibration row. Not asked where
        sizes are numbers of labels.
        """
        if tuning_targets is None:
            return None
        spans = tuning_targets.amax(dim=0) - tuning_targets.amin(dim=0)
        span = float(spans.double().prod())
        return span if span > 0 else None

    def fixed_thresholds(self, outputs: int, cap: float) -> list[float]:
        """Thresholds in ascending order to round tau up to where no rows may be looked at for some; none by default.

        They lie so densely where thresholds usually are that little is lost. ``cap`` is the size that counts as 1.
        """
        return []

    def rounding(self, prediction: ModelOutputs, tau: Tensor) -> Tensor:
        """What tau is raised by, so that rounding cannot take a target out of its set.

        The same input may get a score that differs in its last places when it comes in another batch or on another
        device. A larger tau only covers more; it is certified and paid for like any other. The smallest normal number
        is a floor, for differences that underflow.
        """
        floats = torch.finfo(tau.dtype)
        return _PLACES * (floats.eps * tau.abs() + floats.tiny)


def broadcast(tau: Tensor) -> Tensor:
    """(D,) or (D, n) as (D, 1) or (D, n)."""
    return tau.unsqueeze(-1) if tau.dim() == 1 else tau


def radius(prediction: ModelOutputs, tau: Tensor) -> Tensor:
    """(D, n): the threshold as a distance from the prediction, tau u(x) where there is a scale."""
    thresholds = broadcast(tau)
    if prediction.scale is not None:
        return thresholds * prediction.scale
    return thresholds.expand(thresholds.shape[0], prediction.outputs.shape[1])


def check_vector_targets(kind: str, outputs: int, targets: int) -> None:
    """For scores whose sets are bodies in the space of the targets."""
    if outputs != targets:
        raise OptionError(f"score {kind} needs as many outputs as targets, not {outputs} and {targets}.", field="score")
    if targets > _MOST_DIMENSIONS:
        raise OptionError(
            f"volumes in {targets} dimensions do not fit into floats: at most {_MOST_DIMENSIONS} are possible.",
            field="score",
        )


_MOST_DIMENSIONS = 32
