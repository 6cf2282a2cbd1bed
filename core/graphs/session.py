"""An ONNX graph run by onnxruntime on the CPU, from bytes: files beside it are never read."""

import os
import re
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from certiset.core.errors import ModelError, first_line

_LONGEST_REASON = 300
_FOLDERS = re.compile(r"(?<![\w.])(?:/[\w.+@-]+)*/(?=[\w.+@-]+)")


class Graph(Protocol):
    """From inputs (rows, ...) to the graph's last output, (rows, ...) of floats."""

    def __call__(self, x: NDArray[Any]) -> NDArray[Any]: ...


class GraphOpener(Protocol):
    """Who runs graphs: this process, or confined ones."""

    def open(self, content: bytes) -> Graph: ...


class GraphSession:
    """The graph in this process: for a graph of one's own, or inside a confined process."""

    def __init__(self, content: bytes, threads: int = 0) -> None:
        """``threads``: 0 for as many as there are cores."""
        import onnxruntime  # noqa: PLC0415 (only those who bring an ONNX model pay for it)

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 4
        # Weights that claim to lie in another file are looked for where no file can be, and not in this folder.
        options.add_session_config_entry("session.model_external_initializers_file_folder_path", os.devnull)
        # Threads that spin while they wait take the cores from everybody else.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        try:
            self._session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
        except Exception as error:  # onnxruntime raises several kinds, none of them documented
            raise ModelError(f"The ONNX model cannot be loaded: {_reason(error)}") from None
        inputs = self._session.get_inputs()
        if len(inputs) != 1:
            raise ModelError(f"The ONNX model must have one input, not {len(inputs)}.")
        self._input = inputs[0].name
        self._dtype = np.float64 if "double" in inputs[0].type else np.float32
        self._output = self._session.get_outputs()[-1].name

    def __call__(self, x: NDArray[Any]) -> NDArray[Any]:
        try:
            (found,) = self._session.run([self._output], {self._input: x.astype(self._dtype, copy=False)})
        except Exception as error:
            raise ModelError(f"The ONNX model failed on its input: {_reason(error)}") from None
        last: NDArray[Any] = np.asarray(found)
        if last.dtype.kind != "f" or last.ndim == 0 or len(last) != len(x):
            raise ModelError("The last output of the ONNX model must be floats, one row for each input.")
        return last


def _reason(error: Exception) -> str:
    """What onnxruntime said, without the folders that its messages name: strangers read it."""
    return _FOLDERS.sub("", first_line(error))[:_LONGEST_REASON]
