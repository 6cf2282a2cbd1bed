"""The options of a fit as typed keyword arguments: a misspelt one is an error for a type checker, too.

`certiset.core.fit.options` defines what they mean; a test keeps the names here equal to the names there.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypedDict

if TYPE_CHECKING:
    from certiset.core.fit.optimizer_options import OptimizerOptions
    from certiset.core.fit.options import PriorOptions
    from certiset.core.scores import Score


class PriorKeywords(TypedDict, total=False):
    split: float | None
    train: Literal["none", "mean", "mean_variance"]
    objective: Literal["auto", "size", "proper", "cross_entropy", "laplace", "mix"]
    scale: float
    steps: int | None
    rate: float | None
    batch: int | None
    dropout: float | None


class OptimizerKeywords(TypedDict, total=False):
    kind: Literal["projected", "augmented_lagrangian"]
    steps: int
    outer: int
    rate: float | None
    draws: int
    batch: int
    quantile: Literal["smooth", "neural_sort"]
    temperature: float
    measure: Literal["size", "log_radius"]


class FitKeywords(TypedDict, total=False):
    alpha: float | Literal["all"]
    alpha_around: float
    confidence_level: float | None
    delta: float
    gamma: float
    method: Literal["auto", "standard", "learned", "pac_bayes", "progressive"]
    guarantee: Literal["auto", "per_draw", "pool", "posterior"]
    bound: Literal["chernoff", "seeger", "vovk_2a", "vovk_2b"]
    score: "str | Mapping[str, Any] | Score | None"
    tune: Literal["auto", "head", "score", "both"]
    prior: "PriorKeywords | PriorOptions"
    alpha_hat: float | Sequence[float] | Literal["grid"]
    members: int
    serve: Literal["random", "best"]
    family: int
    optimizer: "OptimizerKeywords | OptimizerOptions"
    seed: int
    device: str
    dtype: Literal["float32", "float64"]
    size_bound: Literal["auto", "betting", "grid_kl", "monotone"]
    size_cap: float | None
    weight_bound: float | None
    prevalences: Mapping[Any, float] | Sequence[float] | None
    group_list: Sequence[Any] | None
    unknown_groups: Literal["whole", "refuse", "other"]
    ties: Literal["together", "hash"]
    non_empty: bool
    allow_missing_classes: bool
