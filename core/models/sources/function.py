"""Any function from rows to outputs."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

from certiset.core.models.manifest import OutputKind
from certiset.core.models.sources.base import Parts, UnboundModel
from certiset.core.models.sources.in_memory import parts_of
from certiset.core.tasks import Task


@dataclass(frozen=True)
class FunctionModel(UnboundModel):
    """What is left open is seen from the rows: y tells the task, and outputs that add up to 1 are probabilities."""

    function: Callable[[Any], Any]
    task: Task | None = None
    labels: Sequence[str] | None = None
    outputs: OutputKind | None = None
    name: str | None = None

    def parts(self, x: Any, y: Any, others: Collection[str] = ()) -> Parts:
        name = self.name or str(getattr(self.function, "__qualname__", type(self.function).__name__))
        return parts_of(
            self.function, name, x, y, others=others, task=self.task, labels=self.labels, outputs=self.outputs
        )
