"""From scores to sets: the level sets of the score, ties broken and the top label kept where that was asked for."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from certiset.core.errors import DamagedFileError, OptionError
from certiset.core.fit.group_rule import GroupRule, read_group_rule
from certiset.core.fit.hashed_ties import HashedTies
from certiset.core.fit.options import FitOptions
from certiset.core.fit.tie_hashes import Digests, RowHashes, is_key
from certiset.core.fit.ties import TOGETHER, Threshold, Ties
from certiset.core.scores import ModelOutputs, Score
from certiset.core.scores.labels import LabelScore
from certiset.core.sets import LabelSets, PredictionSets


@dataclass(frozen=True)
class SetRule:
    """Which labels or values a threshold lets in; its sets grow with the threshold, whatever the rule."""

    ties: Ties = TOGETHER
    non_empty: bool = False
    """the label with the smallest score is in every set (the first of them, if several are equal)"""
    groups: GroupRule | None = None
    """where groups have thresholds of their own: which is for which"""

    @cached_property
    def is_plain(self) -> bool:
        """Whether sets are level sets of the score and nothing else, one threshold for all labels."""
        return self.ties is TOGETHER and not self.non_empty and not self.by_class

    @property
    def by_class(self) -> bool:
        """Whether every label has its own threshold."""
        return self.groups is not None and self.groups.by_class

    def sets(
        self, score: Score, prediction: ModelOutputs, threshold: Threshold, digests: Digests | None
    ) -> PredictionSets:
        """Of one draw; the digests are those of the rows, from `Ties.digests`."""
        if self.is_plain:
            return score.level_set(prediction, threshold.tau)[0]
        return LabelSets(self._masks(score, prediction, threshold, digests)[0].cpu().numpy())

    def size(self, score: Score, prediction: ModelOutputs, threshold: Threshold, digests: Digests | None) -> Tensor:
        """(D, n): the measure of each set."""
        if self.is_plain:
            return score.size(prediction, threshold.tau)
        masks = self._masks(score, prediction, threshold, digests)
        return masks.sum(dim=-1).to(prediction.outputs.dtype)

    def size_by_class(
        self, score: Score, prediction: ModelOutputs, threshold: Threshold, digests: Digests | None
    ) -> Tensor:
        """(D, n): of sets in which each label enters by its own threshold, (D, classes)."""
        return self._masks(score, prediction, threshold, digests).sum(dim=-1).to(prediction.outputs.dtype)

    def to_json(self) -> dict[str, Any]:
        """What differs from plain level sets, so that predictors from before there were rules stay as they are."""
        ties = self.ties.to_json()
        groups = {} if self.groups is None else {"groups": self.groups.to_json()}
        return ({} if ties is None else {"ties": ties}) | ({"non_empty": True} if self.non_empty else {}) | groups

    def _masks(self, score: Score, prediction: ModelOutputs, threshold: Threshold, digests: Digests | None) -> Tensor:
        assert isinstance(score, LabelScore)
        scores = score.of_labels(prediction)
        masks = self.ties.masks(scores, threshold, digests)
        if self.non_empty:
            top = scores.argmin(dim=-1, keepdim=True).expand(len(masks), -1, 1)
            masks = masks.scatter(-1, top, torch.ones_like(top, dtype=torch.bool))
        return masks


PLAIN = SetRule()


def make_rule(options: FitOptions, score: Score) -> SetRule:
    """As the options ask; an `OptionError` where the score's sets are none of labels."""
    if not isinstance(score, LabelScore):
        field = "non_empty" if options.non_empty else "ties" if options.ties != TOGETHER.kind else None
        if field is not None and score.task == "classification":
            raise without_label_scores(field, score)
        if options.ties != TOGETHER.kind:
            raise OptionError(
                f"ties = {options.ties} is for sets of labels, and score {score.kind} is of numbers, which hardly tie: "
                f"leave it at {TOGETHER.kind}.",
                field="ties",
            )
        if options.non_empty:
            raise OptionError(
                f"non_empty keeps the top label of sets of labels, and score {score.kind} has none: leave it out.",
                field="non_empty",
            )
        return PLAIN
    hashed = options.ties == HashedTies.kind
    ties = HashedTies.of_fit(options.seed, getattr(torch, options.dtype)) if hashed else TOGETHER
    return SetRule(ties, options.non_empty)


def without_label_scores(field: str, score: Score) -> OptionError:
    """A score of another package may know only how badly a row's own label fits."""
    return OptionError(
        f"{field} needs the scores of all labels (a LabelScore), and score {score.kind} has none: leave {field} out, "
        "or choose another score.",
        field=field,
    )


def read_rule(described: Mapping[str, Any], score: Score) -> SetRule:
    """What `SetRule.to_json` wrote into the description of a predictor's scoring; an error if it makes no sense."""
    non_empty = described.get("non_empty", False)
    rule = SetRule(_read_ties(described.get("ties")), non_empty, read_group_rule(described.get("groups")))
    if type(non_empty) is not bool or not (rule.is_plain or isinstance(score, LabelScore)):
        raise DamagedFileError("the rule of its sets is invalid.")
    return rule


def _read_ties(described: Any) -> Ties:
    if described is None:
        return TOGETHER
    if isinstance(described, Mapping) and set(described) == {"kind", "key", "width"}:
        key, width = described["key"], described["width"]
        if described["kind"] == HashedTies.kind and is_key(key) and _is_width(width):
            return HashedTies(RowHashes(key), width)
    raise DamagedFileError("its way to break ties is invalid.")


def _is_width(width: Any) -> bool:
    """A power of two that floats of every precision have."""
    return type(width) is float and 2.0**-60 <= width <= 1 and math.frexp(width)[0] == 0.5
