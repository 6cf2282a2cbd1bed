"""A model in the memory of its owner's process: a scikit-learn estimator, a torch module, a function.

It cannot be read from a file or sent to a server, and nothing can be proved about it. Some rows are computed alone and
in company; that its output for a row depends on that row alone stands among the certificate's assumptions.
"""

from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from certiset.core.errors import CertisetError, ModelError, first_line
from certiset.core.graphs import ASSUMED, GraphOpener
from certiset.core.models.backbones.base import Backbone, BackboneSpec
from certiset.core.models.fields import refuse
from certiset.core.models.table_rows import TableRows


class InProcessSpec(BackboneSpec):
    kind = "in_process"
    is_foreign = True
    is_in_process = True

    @classmethod
    def parse(cls, fields: Mapping[str, Any]) -> Self:
        refuse(
            "backbone.kind",
            "backbone.kind in_process is a model in memory, which no file holds: describe it by another kind, such as "
            "onnx, or give the object itself to certiset.fit.",
        )

    def build(self, weights: Mapping[str, Tensor], onnx: bytes | None, graphs: GraphOpener | None) -> Backbone:
        raise ModelError("A model in memory is built from the object itself.", field="backbone.kind")


class InProcessBackbone:
    row_proof = ASSUMED

    def __init__(self, function: Callable[[Any], Any], reader: TableRows | None) -> None:
        self.function, self.reader = function, reader

    def features(self, x: Tensor) -> Tensor:
        return self.of_rows(x.numpy())

    def of_rows(self, rows: NDArray[Any]) -> Tensor:
        """The same of the rows as they were given, in whatever precision."""
        given = rows if self.reader is None else self.reader.rows(rows)
        return torch.from_numpy(outputs_of(self.function, given, len(rows)))

    def tensors(self) -> dict[str, Tensor]:
        return {}


def outputs_of(function: Callable[[Any], Any], rows: Any, count: int) -> NDArray[np.floating[Any]]:
    """(rows, outputs): what the owner's function says, checked for its form."""
    try:
        said = function(rows)
    except CertisetError:
        raise
    except Exception as error:  # it is somebody else's program
        shape = getattr(rows, "shape", None)
        many = "" if shape is None else f", an array of shape {tuple(shape)}"
        raise ModelError(f"The model failed on rows of x{many}: {type(error).__name__}: {first_line(error)}") from error
    if hasattr(type(said), "detach"):
        said = said.detach().cpu().numpy()
    found = np.asarray(said)
    if found.dtype.kind not in "biuf" or found.ndim == 0 or len(found) != count:
        raise ModelError(
            f"The model must give numbers, one row for each row of x, and gave {found.dtype} of shape {found.shape} "
            f"for {count} rows."
        )
    wide = found if found.dtype.kind == "f" and found.itemsize in (4, 8) else found.astype(np.float64)
    return np.array(wide.reshape(count, -1))
