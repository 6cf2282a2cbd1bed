"""The options of the optimizer that fits a posterior."""

from typing import Annotated, Literal

from pydantic import Field

from certiset.core.fit.option_types import WHOLE, Batch, Positive, Section, Steps


class OptimizerOptions(Section):
    """How a posterior is fitted within its KL budget."""

    kind: Literal["projected", "augmented_lagrangian"] = Field(
        "projected", description="certiset's optimizer, or the paper's"
    )
    steps: Steps = Field(100, description="steps of the projected loop; inner steps per round of the other one")
    outer: Annotated[int, Field(ge=1, le=1000), WHOLE] = Field(7, description="rounds of the augmented Lagrangian")
    rate: Positive | None = Field(None, description="learning rate; each optimizer has its own default")
    draws: Annotated[int, Field(ge=1, le=1000), WHOLE] = Field(1, description="draws of theta per step")
    batch: Batch = Field(128, description="rows per step")
    quantile: Literal["smooth", "neural_sort"] = Field("smooth", description="how the threshold is differentiated")
    temperature: Positive = Field(0.1, description="of the soft set size")
    measure: Literal["size", "log_radius"] = Field(
        "size", description="what is minimised: the mean size, or (the paper's, for intervals) the mean log radius"
    )
