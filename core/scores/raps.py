"""Regularised adaptive prediction sets (Angelopoulos et al., 2021)."""

from typing import Annotated, Any, ClassVar

from pydantic import Field, ValidatorFunctionWrapHandler, WrapValidator
from torch import Tensor

from certiset.core.scores.aps import totals_and_places
from certiset.core.scores.base import ModelOutputs
from certiset.core.scores.fixed_thresholds import totals
from certiset.core.scores.labels import LabelScore


def _as_given(value: Any, check: ValidatorFunctionWrapHandler) -> float:
    """A whole number stays one: the members' digest is of the options as they were given."""
    checked: float = check(value)
    return value if type(value) is int else checked


NotNegative = Annotated[float, Field(ge=0, le=1e6), WrapValidator(_as_given)]


class Raps(LabelScore):
    """`Aps` plus a penalty on labels beyond the first few, which shortens the tail of the set sizes."""

    kind: ClassVar[str] = "raps"
    keeps_rows_apart: ClassVar[bool] = True

    penalty: NotNegative = Field(0.01, description="added for each place beyond `free`")
    free: NotNegative = Field(2, description="how many of the likeliest labels are not penalised")

    def of_labels(self, prediction: ModelOutputs) -> Tensor:
        found, places = totals_and_places(prediction.outputs)
        return found + self.penalty * (places - self.free).clamp(min=0)

    def fixed_thresholds(self, outputs: int, cap: float) -> list[float]:
        """Beyond the totals, one between every two places, of many places only some."""
        beyond, place = [], 0
        while self.penalty and place < outputs:
            beyond.append(1 + self.penalty * (place + 0.5))
            place += max(1, place // 16)
        return [*totals(), *beyond]
