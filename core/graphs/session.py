"""An ONNX graph run by onnxruntime on the CPU, from bytes: files beside it are never read.

What is promised for a function of one row must be computed by one. A graph that is proved to treat rows one by one runs
in batches; any other one gets every row in a call of its own.
"""

import os
import re
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from certiset.core.errors import ModelError, first_line
from certiset.core.graphs.row_proof.verdict import NOTHING_YET, RowProof

_LONGEST_REASON = 300
_MOST_ROWS = 2**16
"""in one call, so that a graph's arithmetic with their number is exact in 32 bits, too"""
_NOT_AS_WRITTEN = ["ReshapeFusion"]
"""puts -1 for the number of rows into a shape, so that a shape that does not fit takes several rows together"""
_NOT_A_ROW_EACH = "The last output of the ONNX model must be floats, one row for each input."
_ONE_AT_A_TIME = RowProof(False, "the graph takes one row at a time")
_DTYPES: dict[str, type[np.number[Any]]] = {
    "tensor(float)": np.float32,
    "tensor(double)": np.float64,
    "tensor(int64)": np.int64,
    "tensor(int32)": np.int32,
}
_FOLDERS = re.compile(r"(?<![\w.])(?:/[\w.+@-]+)*/(?=[\w.+@-]+)")


class Graph(Protocol):
    """From inputs (rows, ...) to the graph's last output, (rows, ...) of floats."""

    @property
    def row_proof(self) -> RowProof:
        """How the rows that were computed last have been treated."""
        ...

    def __call__(self, x: NDArray[Any]) -> NDArray[Any]: ...


class GraphOpener(Protocol):
    """Who runs graphs: this process, or confined ones."""

    def open(self, content: bytes) -> Graph: ...


class GraphSession:
    """The graph in this process: for a graph of one's own, or inside a confined process."""

    def __init__(self, content: bytes | memoryview, threads: int = 0) -> None:
        """``threads``: 0 for as many as there are cores."""
        import onnxruntime  # noqa: PLC0415 (only those who bring an ONNX model pay for it)

        from certiset.core.graphs.row_proof.chance import refuse_chance  # noqa: PLC0415
        from certiset.core.graphs.row_proof.graph_file import outline, read_model, without_claims  # noqa: PLC0415

        model = read_model(content)
        runnable = without_claims(model)
        self._outline = outline(model)
        refuse_chance(self._outline)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 4
        # Weights that claim to lie in another file are looked for where no file can be, and not in this folder.
        options.add_session_config_entry("session.model_external_initializers_file_folder_path", os.devnull)
        # What was judged is what runs: onnxruntime has another format, and would take the same bytes for that.
        options.add_session_config_entry("session.load_model_format", "ONNX")
        # Threads that spin while they wait take the cores from everybody else.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        try:
            self._session = onnxruntime.InferenceSession(
                runnable, options, providers=["CPUExecutionProvider"], disabled_optimizers=_NOT_AS_WRITTEN
            )
        except Exception as error:  # onnxruntime raises several kinds, none of them documented
            raise ModelError(f"The ONNX model cannot be loaded: {_reason(error)}") from None
        self._inputs = self._session.get_inputs()
        inputs = self._inputs
        if not inputs:
            raise ModelError("The ONNX model has no input.")
        self._dtypes = [_dtype(entry) for entry in inputs]
        self._output = self._session.get_outputs()[-1].name
        fixed = next((side for entry in inputs for side in entry.shape[:1] if isinstance(side, int)), None)
        if len(inputs) > 1 and any(entry.shape[1:] not in ([], [1]) for entry in inputs):
            raise ModelError(
                "The ONNX model has several inputs, and each must take one column: one number for each row."
            )
        if fixed not in (None, 1):
            raise ModelError(
                f"The ONNX model takes exactly {fixed} rows at a time: export it with a dynamic number of rows."
            )
        self._one_at_a_time = fixed is not None
        self._proofs: dict[tuple[int, ...], RowProof] = {}
        self.row_proof = NOTHING_YET

    def __call__(self, x: NDArray[Any]) -> NDArray[Any]:
        rows = x.astype(self._dtypes[0], copy=False) if len(self._inputs) == 1 else x
        self.row_proof = self._judged(x.shape[1:])
        if not self.row_proof.proved:
            return self._one_by_one(rows)
        parts = [self._batch(rows[start : start + _MOST_ROWS]) for start in range(0, max(1, len(rows)), _MOST_ROWS)]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def _batch(self, rows: NDArray[Any]) -> NDArray[Any]:
        found = self._run(rows)
        if found.ndim == 0 or len(found) != len(rows):
            raise ModelError(_NOT_A_ROW_EACH)
        return found

    def _judged(self, row_shape: tuple[int, ...]) -> RowProof:
        from certiset.core.graphs.row_proof.walk import prove  # noqa: PLC0415

        if row_shape not in self._proofs:
            self._proofs[row_shape] = _ONE_AT_A_TIME if self._one_at_a_time else prove(self._outline, row_shape)
        return self._proofs[row_shape]

    def _one_by_one(self, rows: NDArray[Any]) -> NDArray[Any]:
        if not len(rows):
            return self._one_by_one(np.zeros((1, *rows.shape[1:]), rows.dtype))[:0]
        first = self._one(rows[:1])
        found = np.empty((len(rows), *first.shape), first.dtype)
        found[0] = first
        before = rows[0].tobytes()
        for place in range(1, len(rows)):
            row = rows[place].tobytes()
            # Batches are filled up with copies of a row, which need no call of their own.
            if row != before:
                one, before = self._one(rows[place : place + 1]), row
                if one.shape != first.shape:
                    raise ModelError("The ONNX model gives different numbers of outputs for different inputs.")
                found[place] = one
            else:
                found[place] = found[place - 1]
        return found

    def _one(self, row: NDArray[Any]) -> NDArray[Any]:
        found = self._run(row)
        # Some graphs drop axes of a single entry, and so that of a single row.
        if found.ndim and len(found) != 1:
            raise ModelError(_NOT_A_ROW_EACH)
        return found.reshape(found.shape[1:])

    @property
    def input_names(self) -> list[str] | None:
        """Of the columns, where there is an input for each."""
        return [entry.name for entry in self._inputs] if len(self._inputs) > 1 else None

    def _fed(self, rows: NDArray[Any]) -> dict[str, NDArray[Any]]:
        """The graph's input, or one column for each of its inputs."""
        if len(self._inputs) == 1:
            return {self._inputs[0].name: rows}
        if rows.shape[1:] != (len(self._inputs),):
            raise ModelError(f"The ONNX model takes {len(self._inputs)} columns, and x has rows of {rows.shape[1:]}.")
        return {
            entry.name: rows[:, place].reshape(len(rows), *[1] * (len(entry.shape) - 1)).astype(dtype)
            for place, (entry, dtype) in enumerate(zip(self._inputs, self._dtypes, strict=True))
        }

    def _run(self, rows: NDArray[Any]) -> NDArray[Any]:
        try:
            (found,) = self._session.run([self._output], self._fed(rows))
        except Exception as error:
            why = _mismatch(self._inputs, rows) or _reason(error)
            raise ModelError(f"The ONNX model failed on its input: {why}") from None
        last: NDArray[Any] = np.asarray(found)
        if last.dtype.kind != "f":
            raise ModelError(_NOT_A_ROW_EACH)
        return last


def _dtype(entry: Any) -> type[np.number[Any]]:
    """Of an input; text and truth values are refused."""
    found = _DTYPES.get(entry.type)
    if found is None:
        raise ModelError(
            f"The ONNX model's input {entry.name[:60]!r} takes {entry.type.removeprefix('tensor')}, and certiset feeds "
            "numbers alone: turn text into numbers before the model."
        )
    return found


def _mismatch(inputs: Sequence[Any], rows: NDArray[Any]) -> str | None:
    """Where the graph says that it takes rows of another shape; onnxruntime's words for it are its own."""
    if len(inputs) > 1:
        return None
    taken, given = inputs[0].shape[1:], rows.shape[1:]
    if len(taken) == len(given):
        pairs = zip(taken, given, strict=True)
        if all(not isinstance(side, int) or side == got for side, got in pairs):
            return None
    sides = ", ".join(str(side) if isinstance(side, int) else "any" for side in taken)
    return f"it takes rows of shape ({sides}{',' if len(taken) == 1 else ''}), and x has rows of shape {given}"


def _reason(error: Exception) -> str:
    """What onnxruntime said, without the folders that its messages name: strangers read it."""
    return _FOLDERS.sub("", first_line(error))[:_LONGEST_REASON]
