"""What a model predicts: one of some classes, or numbers."""

from typing import Literal, TypeAlias

Task: TypeAlias = Literal["classification", "regression"]
