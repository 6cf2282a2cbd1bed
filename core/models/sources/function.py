"""Any function from rows to outputs."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

from certiset.core.errors import ModelError
from certiset.core.models.manifest import OutputKind
from certiset.core.models.sources.base import Parts, UnboundModel
from certiset.core.models.sources.in_memory import parts_of
from certiset.core.tasks import Task


@dataclass(frozen=True, repr=False)
class FunctionModel(UnboundModel):
    """What is left open is seen from the rows: y tells the task, and outputs that add up to 1 are probabilities."""

    function: Callable[[Any], Any]
    task: Task | None = None
    labels: Sequence[str] | None = None
    outputs: OutputKind | None = None
    name: str | None = None

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise ModelError(f"from_predict takes a function, not {type(self.function).__name__}.", field="model")

    @property
    def title(self) -> str:
        return self.name or str(getattr(self.function, "__qualname__", type(self.function).__name__))

    def parts(self, x: Any, y: Any, others: Collection[str] = ()) -> Parts:
        return parts_of(
            self.function, self.title, x, y, others=others, task=self.task, labels=self.labels, outputs=self.outputs
        )
