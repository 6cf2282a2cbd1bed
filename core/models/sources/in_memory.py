"""A function in memory as the parts of a model: tried on some rows, alone and in company."""

from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certiset.core.data_frames import frame_names
from certiset.core.errors import DataError, ModelError
from certiset.core.models.backbones.in_process import InProcessBackbone, InProcessSpec, outputs_of
from certiset.core.models.heads.identity import IdentitySpec
from certiset.core.models.manifest import Manifest, OutputKind
from certiset.core.models.sources.base import PROBED, Parts, array_of, columns_of, kind_of, task_of
from certiset.core.models.table_rows import TableRows, is_table
from certiset.core.tasks import Task

_ALONE = 4
"""rows that are computed once more by themselves"""
_PLACES = 2.0**-16
"""relative: what another order of the same sums may change in float32, and no more"""

Function = Callable[[Any], Any]


def parts_of(
    function: Function,
    name: str,
    x: Any,
    y: Any,
    *,
    columns: Sequence[str] | None = None,
    others: Collection[str] = (),
    task: Task | None = None,
    labels: Sequence[str] | None = None,
    outputs: OutputKind | None = None,
) -> Parts:
    """``columns`` are the names of the inputs that the function was made for, if it knows them."""
    reader, codes = _read(x, columns, others)
    backbone = InProcessBackbone(function, reader)
    tried = codes[:PROBED]
    said = check_rows(backbone, tried)
    task = task_of(y, said.shape[1]) if task is None else task
    classes = said.shape[1] if task == "classification" else None
    if task == "classification" and said.shape[1] == 1:
        raise ModelError(
            "A classifier must give one number for each class, and the model gives one in all: return the "
            "probabilities of both classes, as two columns.",
            field="model",
        )
    fields = {
        "name": name[:200],
        "task": task,
        "input_shape": list(codes.shape[1:]),
        **({"classes": classes} if classes else {}),
        **({"labels": list(labels)} if labels is not None else {}),
        **({"outputs": outputs or kind_of(said)} if classes else {}),
        **({"columns": reader.columns} if reader is not None and reader.columns is not None else {}),
    }
    described = Manifest.parse(fields)
    # The manifest of a model in memory can be written, and is not read back.
    manifest = Manifest(**{**vars(described), "backbone": InProcessSpec(name[:200]), "head": IdentitySpec()})
    head, parameters = manifest.head.build(said.shape[1], {}, classes)
    return Parts(manifest, backbone, head, parameters)


def _read(x: Any, columns: Sequence[str] | None, others: Collection[str]) -> tuple[TableRows | None, NDArray[Any]]:
    if not is_table(x):
        return None, array_of(x)
    names = frame_names(x)
    if names is None:
        width = int(np.prod(np.shape(x)[1:]))
        reader = TableRows(None, width)
    else:
        wanted = list(columns) if columns is not None else columns_of(x, others) or []
        reader = TableRows(wanted, len(wanted))
    codes = reader.read(x, others)
    if not len(codes):
        raise DataError("x must hold at least one row.", field="x")
    return reader, codes


def check_outputs(outputs: NDArray[Any], rows: NDArray[Any]) -> None:
    """Names the first row whose outputs are not finite, and says where its inputs are not."""
    bad = np.flatnonzero(~np.isfinite(outputs.reshape(len(outputs), -1)).all(axis=1))
    if len(bad):
        given = rows[bad[0]]
        missing = given.dtype.kind == "f" and not np.isfinite(given).all()
        why = ", which holds numbers that are missing or infinite" if missing else ""
        raise DataError(f"The model's output is not finite for row {bad[0] + 1} of x{why}.", field="x")


def check_rows(backbone: InProcessBackbone, rows: NDArray[Any]) -> NDArray[np.floating[Any]]:
    """Outputs of some rows; an error where a row's depend on the rows around it, or change by themselves."""

    def said(part: NDArray[Any]) -> NDArray[np.floating[Any]]:
        given = part if backbone.reader is None else backbone.reader.rows(part)
        return outputs_of(backbone.function, given, len(part))

    together = said(rows)
    check_outputs(together, rows)
    # Of all rows: where sums cancel, a row's own output may be nothing but rounding.
    allowed = _PLACES * max(float(np.abs(together).max()), 1e-30)
    if np.any(np.abs(said(rows) - together) > allowed):
        raise ModelError(
            "The model gives other outputs for the same rows each time: a promise needs a fixed function. Fix its "
            "seed, or switch off what is random in it, such as dropout.",
            field="model",
        )
    places = np.unique(np.linspace(0, len(rows) - 1, _ALONE).astype(int))
    alone = np.concatenate([said(rows[place : place + 1]) for place in places])
    backwards = said(rows[::-1])[::-1]
    if np.any(np.abs(alone - together[places]) > allowed) or np.any(np.abs(backwards - together) > allowed):
        raise ModelError(
            "The model's output for a row depends on the rows around it: alone or in another order it says something "
            "else. A promise needs a function of one row: compute what it takes from a batch, such as a mean, on the "
            "training data.",
            field="model",
        )
    return together
