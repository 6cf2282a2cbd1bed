"""Tensors of the Open Inference Protocol, read and written: as JSON, or as raw bytes after it.

With the header ``Inference-Header-Content-Length`` a body is so many bytes of JSON, and then the tensors that it names.
"""

import json
import math
import struct
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from certiset.core.data.group_labels import LONGEST_VALUE
from certiset.core.errors import DataError, OptionError, TooLargeError
from certiset.service.http.exact_casts import cast_exactly
from certiset.service.http.request_errors import body_error
from certiset.service.serving.set_server import ServedSets
from certiset.service.serving.slices import row_slices

HEAD_LENGTH = "Inference-Header-Content-Length"
CLASS_NAMES = "class_names"
NUMBERS_AT = ("inputs", 0, "data")
_VALUES_AT_ONCE = 512
"""written before others have their turn"""
_RAW_AT_ONCE = 2**16
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
        "BOOL",
        "UINT8",
        "UINT16",
        "UINT32",
        "UINT64",
        "INT8",
        "INT16",
        "INT32",
        "INT64",
        "FP16",
        "FP32",
        "FP64",
        "BYTES",
    ]
    parameters: dict[str, Any] = Field(default_factory=dict)
    data: list[Any] | None = None


class RequestedOutput(Loose):
    name: Annotated[str, Field(max_length=200)]
    parameters: dict[str, Any] = Field(default_factory=dict)


class InferRequest(Loose):
    id: Annotated[str, Field(max_length=200)] | None = None
    parameters: dict[str, Any] = Field(default_factory=dict)
    inputs: Annotated[list[InputTensor], Field(min_length=1, max_length=2)]
    outputs: Annotated[list[RequestedOutput], Field(max_length=20)] | None = None


def read_request(
    head: bytes, numbers: NDArray[Any] | None, raw: memoryview, most_rows: int
) -> tuple[InferRequest, NDArray[Any], NDArray[Any] | None]:
    """What is asked, the input and the groups of its rows, if given; ``numbers`` are the data of the input, if they
    were taken out of the head."""
    try:
        asked = InferRequest.model_validate_json(head)
    except ValidationError as error:
        raise body_error(error, InferRequest) from None
    first, others = asked.inputs[0], asked.inputs[1:]
    rows = first.shape[0]
    if rows > most_rows:
        # Before they are looked at: there may be as many as bytes.
        raise TooLargeError(f"At most {most_rows:,} rows are accepted at once.", field="x")
    if others and others[0].shape[0] != rows:
        raise DataError(f"groups has {others[0].shape[0]} entries for {rows} rows.", field="inputs.1")
    binary = first.parameters.get("binary_data_size")
    end = binary if type(binary) is int and binary >= 0 and others else len(raw)
    groups = read_groups(others[0], raw[end:]) if others else None
    return asked, _tensor(first, numbers, raw[:end]), groups


def read_groups(given: InputTensor, raw: memoryview) -> NDArray[Any]:
    """The second tensor: a group for each row, or for each row and column that crosses, as texts or numbers."""
    if given.name != "groups" or len(given.shape) > 2:
        raise OptionError("The first input is named x, and the second, if there is one, groups.", field="inputs.1.name")
    if given.datatype != "BYTES":
        return _numbers(given, None, raw, 1)
    size = math.prod(given.shape)
    texts = given.data
    if given.parameters.get("binary_data_size") is not None:
        texts = _texts(raw, size)
    if texts is not None and len(given.shape) == 2 and texts and all(isinstance(entry, list) for entry in texts):
        texts = [value for entry in texts for value in entry]
    if texts is None or len(texts) != size or not all(isinstance(text, str) for text in texts):
        raise OptionError(f"data must be {size} texts, as the shape says.", field="inputs.1.data")
    return np.array(texts, dtype=str).reshape(given.shape)


def _texts(raw: memoryview, most: int) -> list[Any]:
    """Each with its length before it, in four bytes; those beyond ``most`` are not looked at, but for one."""
    found: list[Any] = []
    start = 0
    try:
        while start < len(raw) and len(found) <= most:
            (length,) = struct.unpack_from("<I", raw, start)
            end = start + 4 + length
            if length > 4 * LONGEST_VALUE or end > len(raw):
                raise ValueError
            found.append(str(raw[start + 4 : end], "utf-8"))
            start = end
    except (ValueError, struct.error):
        raise OptionError(
            "The bytes of groups must be UTF-8 texts, each after its length.",
            field="inputs.1.parameters.binary_data_size",
        ) from None
    return found


def _tensor(given: InputTensor, numbers: NDArray[Any] | None, raw: memoryview) -> NDArray[Any]:
    if given.name != "x" or given.datatype == "BYTES":
        raise OptionError("The first input is named x, and has numbers.", field="inputs.0.name")
    return _numbers(given, numbers, raw, 0)


def _numbers(given: InputTensor, numbers: NDArray[Any] | None, raw: memoryview, place: int) -> NDArray[Any]:
    dtype, size = _DTYPES[given.datatype], 1
    for side in given.shape:
        size *= side
    binary = given.parameters.get("binary_data_size")
    if binary is not None:
        if binary != len(raw) or binary != size * dtype.itemsize:
            message = f"{len(raw)} bytes follow the JSON, and the shape needs {size * dtype.itemsize}."
            raise OptionError(message, field=f"inputs.{place}.parameters.binary_data_size")
        try:
            array = np.frombuffer(raw, dtype=dtype).reshape(given.shape)
        except ValueError:
            raise OptionError("No array has that shape.", field=f"inputs.{place}.shape") from None
        if given.datatype == "BOOL" and array.view(np.uint8).max(initial=0) > 1:
            raise OptionError("BOOL has bytes of 0 and 1 alone.", field=f"inputs.{place}.parameters.binary_data_size")
        return array
    try:
        array = numbers if numbers is not None else np.array(given.data if given.data is not None else [])
        if array.dtype.kind not in "biuf" or array.size != size:
            raise ValueError
        nested = array.ndim > 1 and array.shape != tuple(given.shape)
        array = array.reshape(given.shape)
    except (ValueError, OverflowError, TypeError):
        raise OptionError(f"data must be {size} numbers, as the shape says.", field=f"inputs.{place}.data") from None
    if nested:
        raise OptionError("data must be one flat list, or nested as the shape says.", field=f"inputs.{place}.data")
    return cast_exactly(array, dtype, given.datatype)


def write_answer(
    asked: InferRequest, served: ServedSets, arrays: Mapping[str, NDArray[Any]], tail: list[bytes]
) -> Iterator[bytes]:
    """The JSON for the columns of what was served; the raw bytes of tensors, which follow it, are added to ``tail``.

    Each part is written in a fraction of a millisecond.
    """
    wanted = [output.name for output in asked.outputs] if asked.outputs else list(arrays)
    unknown = [name for name in wanted if name not in arrays]
    if unknown:
        raise OptionError(f"There is no output {unknown[0]}; there are {', '.join(arrays)}.", field="outputs")
    all_binary = bool(asked.parameters.get("binary_data_output"))
    binary = {o.name: bool(o.parameters.get("binary_data", all_binary)) for o in asked.outputs or []}
    certificate = json.loads(served.certificate_json)
    parameters = {f"certificate_{key}": value for key, value in certificate.items() if value is not None}
    name, version = served.predictor.id, "1"
    if served.deployed is not None:
        name, version = served.deployed.name, str(served.deployed.version)
        parameters["predictor"] = served.predictor.id
    head = {"model_name": name, "model_version": version, "parameters": parameters}
    yield (json.dumps(head | ({"id": asked.id} if asked.id else {}))[:-1] + ', "outputs": [').encode()
    for place, name in enumerate(wanted):
        if place:
            yield b", "
        if binary.get(name, all_binary):
            yield from _binary_output(name, arrays[name], tail)
        else:
            yield from _json_output(name, arrays[name])
    yield b"]}"


def class_names(served: ServedSets) -> dict[str, NDArray[np.bytes_]]:
    """One more output, with the name of each class, where classes have names."""
    labels = served.predictor.predictor.labels
    return {} if labels is None else {CLASS_NAMES: np.array([label.encode() for label in labels])}


def _described(name: str, array: NDArray[Any]) -> dict[str, Any]:
    datatype = "BYTES" if array.dtype.kind == "S" else _NAMES[array.dtype.newbyteorder("<")]
    return {"name": name, "datatype": datatype, "shape": list(array.shape)}


def _binary_output(name: str, array: NDArray[Any], tail: list[bytes]) -> Iterator[bytes]:
    length = 0
    for part in row_slices(len(array), math.prod(array.shape[1:]), at_once=_VALUES_AT_ONCE, most=_RAW_AT_ONCE):
        rows = array[part]
        if array.dtype.kind == "S":
            raw = b"".join(struct.pack("<I", len(value)) + value for value in rows.tolist())
        else:
            raw = rows.astype(array.dtype.newbyteorder("<")).tobytes()
        tail.append(raw)
        length += len(raw)
        # Nothing for the JSON yet, which states the length.
        yield b""
    yield json.dumps(_described(name, array) | {"parameters": {"binary_data_size": length}}).encode()


def _json_output(name: str, array: NDArray[Any]) -> Iterator[bytes]:
    yield json.dumps(_described(name, array))[:-1].encode() + b', "data": ['
    flat = array.reshape(-1)
    for start in range(0, len(flat), _VALUES_AT_ONCE):
        values = json.dumps(_values(flat[start : start + _VALUES_AT_ONCE]))[1:-1]
        yield ((", " if start else "") + values).encode()
    yield b"]}"


def _values(flat: NDArray[Any]) -> list[Any]:
    if flat.dtype.kind == "S":
        return [value.decode() for value in flat.tolist()]
    if flat.dtype.kind == "f" and not np.isfinite(flat).all():
        # JSON has no infinity; an end without bound is null.
        return [value if np.isfinite(value) else None for value in flat.tolist()]
    return flat.tolist()
