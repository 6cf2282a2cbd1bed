"""Tensors of the Open Inference Protocol, read and written: as JSON, or as raw bytes after it.

With the header ``Inference-Header-Content-Length`` a body is so many bytes of JSON, and then the tensors that it names.
"""

import json
import struct
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from certiset.core.errors import OptionError
from certiset.service.http.request_errors import body_error
from certiset.service.serving.set_server import ServedSets

HEAD_LENGTH = "Inference-Header-Content-Length"
NUMBERS_AT = ("inputs", 0, "data")
_VALUES_AT_ONCE = 4096
"""written while nobody else gets Python's lock"""
_DTYPES = {
    "BOOL": np.dtype("?"),
    "UINT8": np.dtype("<u1"),
    "UINT16": np.dtype("<u2"),
    "UINT32": np.dtype("<u4"),
    "UINT64": np.dtype("<u8"),
    "INT8": np.dtype("<i1"),
    "INT16": np.dtype("<i2"),
    "INT32": np.dtype("<i4"),
    "INT64": np.dtype("<i8"),
    "FP16": np.dtype("<f2"),
    "FP32": np.dtype("<f4"),
    "FP64": np.dtype("<f8"),
}
_NAMES = {dtype: name for name, dtype in _DTYPES.items()}


class Loose(BaseModel):
    """Clients of the protocol may send parameters that we do not know."""

    model_config = ConfigDict(extra="ignore")


class InputTensor(Loose):
    name: Annotated[str, Field(max_length=200)]
    shape: Annotated[list[Annotated[int, Field(ge=0, le=2**40)]], Field(min_length=1, max_length=32)]
    datatype: Literal[
        "BOOL", "UINT8", "UINT16", "UINT32", "UINT64", "INT8", "INT16", "INT32", "INT64", "FP16", "FP32", "FP64"
    ]
    parameters: dict[str, Any] = Field(default_factory=dict)
    data: list[Any] | None = None


class RequestedOutput(Loose):
    name: Annotated[str, Field(max_length=200)]
    parameters: dict[str, Any] = Field(default_factory=dict)


class InferRequest(Loose):
    id: Annotated[str, Field(max_length=200)] | None = None
    parameters: dict[str, Any] = Field(default_factory=dict)
    inputs: Annotated[list[InputTensor], Field(min_length=1, max_length=1)]
    outputs: Annotated[list[RequestedOutput], Field(max_length=20)] | None = None


def read_request(head: bytes, numbers: NDArray[Any] | None, raw: bytes) -> tuple[InferRequest, NDArray[Any]]:
    """What is asked, and the input; ``numbers`` are its data, if they were taken out of the head."""
    try:
        asked = InferRequest.model_validate_json(head)
    except ValidationError as error:
        raise body_error(error, InferRequest) from None
    return asked, _tensor(asked.inputs[0], numbers, raw)


def _tensor(given: InputTensor, numbers: NDArray[Any] | None, raw: bytes) -> NDArray[Any]:
    if given.name != "x":
        raise OptionError("The one input is named x.", field="inputs.0.name")
    dtype, size = _DTYPES[given.datatype], 1
    for side in given.shape:
        size *= side
    binary = given.parameters.get("binary_data_size")
    if binary is not None:
        if binary != len(raw) or binary != size * dtype.itemsize:
            message = f"{len(raw)} bytes follow the JSON, and the shape needs {size * dtype.itemsize}."
            raise OptionError(message, field="inputs.0.parameters.binary_data_size")
        try:
            return np.frombuffer(raw, dtype=dtype).reshape(given.shape)
        except ValueError:
            raise OptionError("No array has that shape.", field="inputs.0.shape") from None
    try:
        array = numbers if numbers is not None else np.array(given.data if given.data is not None else [])
        if array.dtype.kind not in "biuf" or array.size != size:
            raise ValueError
        with np.errstate(over="ignore", invalid="ignore"):
            return array.astype(dtype).reshape(given.shape)
    except (ValueError, OverflowError, TypeError):
        raise OptionError(f"data must be {size} numbers, as the shape says.", field="inputs.0.data") from None


def write_answer(asked: InferRequest, served: ServedSets) -> tuple[bytes, int]:
    """The body, and how many bytes of it are JSON."""
    arrays = served.columns()
    wanted = [output.name for output in asked.outputs] if asked.outputs else list(arrays)
    unknown = [name for name in wanted if name not in arrays]
    if unknown:
        raise OptionError(f"There is no output {unknown[0]}; there are {', '.join(arrays)}.", field="outputs")
    all_binary = bool(asked.parameters.get("binary_data_output"))
    binary = {o.name: bool(o.parameters.get("binary_data", all_binary)) for o in asked.outputs or []}
    certificate = json.loads(served.predictor.certificate_json)
    parameters = {f"certificate_{key}": value for key, value in certificate.items()}
    head = {"model_name": served.predictor.id, "model_version": "1", "parameters": parameters}
    parts, tail = [json.dumps(head | ({"id": asked.id} if asked.id else {}))[:-1] + ', "outputs": ['], []
    for place, name in enumerate(wanted):
        parts.append(", " if place else "")
        if binary.get(name, all_binary):
            tensor, raw = _binary_output(name, arrays[name])
            parts.append(json.dumps(tensor))
            tail.append(raw)
        else:
            parts += _json_output(name, arrays[name])
    content = "".join([*parts, "]}"]).encode()
    return b"".join([content, *tail]), len(content)


def _described(name: str, array: NDArray[Any]) -> dict[str, Any]:
    datatype = "BYTES" if array.dtype.kind == "S" else _NAMES[array.dtype.newbyteorder("<")]
    return {"name": name, "datatype": datatype, "shape": list(array.shape)}


def _binary_output(name: str, array: NDArray[Any]) -> tuple[dict[str, Any], bytes]:
    if array.dtype.kind == "S":
        raw = b"".join(struct.pack("<I", len(value)) + value for value in array.tolist())
    else:
        raw = array.astype(array.dtype.newbyteorder("<")).tobytes()
    return _described(name, array) | {"parameters": {"binary_data_size": len(raw)}}, raw


def _json_output(name: str, array: NDArray[Any]) -> list[str]:
    """The tensor's JSON in parts: a single call for millions of values would hold Python's lock for seconds."""
    flat, parts = array.reshape(-1), [json.dumps(_described(name, array))[:-1], ', "data": [']
    for start in range(0, len(flat), _VALUES_AT_ONCE):
        parts.append((", " if start else "") + json.dumps(_values(flat[start : start + _VALUES_AT_ONCE]))[1:-1])
    return [*parts, "]}"]


def _values(flat: NDArray[Any]) -> list[Any]:
    if flat.dtype.kind == "S":
        return [value.decode() for value in flat.tolist()]
    if flat.dtype.kind == "f" and not np.isfinite(flat).all():
        # JSON has no infinity; an end without bound is null.
        return [value if np.isfinite(value) else None for value in flat.tolist()]
    return flat.tolist()
