"""The body of POST /calibrations, with the defaults of `core.fit`."""

from typing import Annotated, Any, Literal

from pydantic import Field

from service.schemas.common import Id, Name, Strict

Level = Annotated[float, Field(gt=0, lt=1)]


class Prior(Strict):
    split: Annotated[float, Field(ge=0, lt=1)] = 0.5
    train: Literal["none", "mean", "mean_variance"] = "mean_variance"
    objective: Literal["auto", "size", "proper", "cross_entropy", "laplace", "mix"] = "auto"
    scale: Annotated[float, Field(gt=0, le=1e6)] = 0.01
    steps: Annotated[int, Field(ge=0, le=1_000_000)] | None = None
    rate: Annotated[float, Field(gt=0, le=1e6)] | None = None
    batch: Annotated[int, Field(ge=2, le=1_000_000)] | None = None
    dropout: Annotated[float, Field(ge=0, lt=1)] | None = None


class Optimizer(Strict):
    kind: Literal["projected", "augmented_lagrangian"] = "projected"
    steps: Annotated[int, Field(ge=1, le=1_000_000)] = 100
    outer: Annotated[int, Field(ge=1, le=1000)] = 7
    rate: Annotated[float, Field(gt=0, le=1e6)] | None = None
    draws: Annotated[int, Field(ge=1, le=1000)] = 1
    batch: Annotated[int, Field(ge=2, le=1_000_000)] = 128
    quantile: Literal["smooth", "neural_sort"] = "smooth"
    temperature: Annotated[float, Field(gt=0, le=1e6)] = 0.1
    measure: Literal["size", "log_radius"] = "size"


class Score(Strict):
    kind: Literal["log_prob", "lac", "aps", "raps", "residual", "scaled_residual", "cqr", "ball", "box", "scaled_ball"]
    penalty: Annotated[float, Field(ge=0, le=1e6)] | None = None
    free: Annotated[int, Field(ge=0, le=1_000_000)] | None = None


class CalibrationRequest(Strict):
    dataset_id: Id
    model_id: Id
    alpha: Level | None = Field(None, description="promised miscoverage, 0.1 if not given")
    confidence_level: Level | None = Field(None, description="another word for 1 - alpha")
    delta: Level = 0.05
    gamma: Level = 0.05
    method: Literal["pac_bayes", "learned", "standard"] = "pac_bayes"
    guarantee: Literal["per_draw", "posterior"] = "per_draw"
    bound: Literal["chernoff", "seeger", "vovk_2a", "vovk_2b"] = "chernoff"
    score: Score | None = None
    tune: Literal["auto", "head", "score", "both"] = "auto"
    prior: Prior = Field(default_factory=Prior)
    alpha_hat: Literal["grid"] | Level | Annotated[list[Level], Field(min_length=1, max_length=100)] = "grid"
    members: Annotated[int, Field(ge=1, le=10_000)] = 32
    optimizer: Optimizer = Field(default_factory=Optimizer)
    seed: Annotated[int, Field(ge=0, le=2**63 - 1)] = 0
    device: Literal["auto", "cpu", "cuda"] = "auto"
    dtype: Literal["float32", "float64"] = "float32"
    size_cap: Annotated[float, Field(gt=0, le=1e300)] | None = None
    allow_missing_classes: bool = False
    name: Name = ""

    def options(self) -> dict[str, Any]:
        """What the fit is given: only what was asked for, so that defaults stay those of the fit."""
        given = self.model_dump(exclude_unset=True, exclude_none=True)
        return {name: value for name, value in given.items() if name not in ("dataset_id", "model_id", "name")}
