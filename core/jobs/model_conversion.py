"""Building a stranger's model for the first time, confined: a small file can ask for terabytes, or loop, or crash."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from certiset.core import sandbox
from certiset.core.confinement import Confinement
from certiset.core.errors import ModelError
from certiset.core.graphs import RowProof

_SECONDS = 60
_MEMORY = 6 * 2**30
_ROOM = 2**20
"""bytes of a file beside its tensors"""


@dataclass(frozen=True)
class ConvertedModel:
    sha256: str
    row_proof: RowProof


def convert_model(
    manifest: dict[str, Any], weights: Path | None, onnx: Path | None, output: Path, largest: int
) -> ConvertedModel:
    """Writes the model's tensors to ``output``, as they are stored.

    Raises `ModelError` if it cannot be built within the limits, or has more than ``largest`` bytes then.
    """
    files = {"weights": weights and str(weights.absolute()), "onnx": onnx and str(onnx.absolute())}
    confinement = Confinement(
        memory=_MEMORY,
        cpu_seconds=_SECONDS,
        largest_file=largest + _ROOM,
        niceness=5,
        readable=tuple(file for file in files.values() if file),
        writable=(str(output.absolute()),),
    )
    try:
        told = sandbox.call(
            f"{__name__}:{write_model.__name__}",
            {"manifest": manifest, **files, "output": str(output.absolute()), "largest": largest},
            confinement=confinement,
            seconds=_SECONDS,
        ).value
    except sandbox.SandboxError as error:
        raise ModelError(
            f"The model could not be run on a test input, with at most {_MEMORY // 2**30} GiB and {_SECONDS} seconds: "
            f"its process {error}."
        ) from error
    if not isinstance(told, list) or len(told) != 3:
        raise ModelError("The model could not be run on a test input: its process gave an answer that makes no sense.")
    sha256, proved, reason = told
    return ConvertedModel(str(sha256), RowProof.told(proved, reason))


def write_model(
    manifest: dict[str, Any], weights: str | None, onnx: str | None, output: str, largest: int
) -> list[Any]:
    """This runs confined: the model's SHA-256, whether its rows are proved to be treated one by one, and why not."""
    from safetensors.torch import save  # noqa: PLC0415 (PyTorch is loaded within the limits)

    from certiset.core.models import Model  # noqa: PLC0415

    model = Model.from_manifest(manifest, weights, onnx=onnx)
    tensors = {name: tensor.contiguous() for name, tensor in model.tensors().items()}
    size = sum(tensor.nbytes for tensor in tensors.values())
    if size > largest:
        raise ModelError(f"The model has {size:,} bytes as 32-bit floats, and at most {largest:,} are accepted.")
    Path(output).write_bytes(save(tensors))
    return [model.sha256, model.backbone.row_proof.proved, model.rows_reason]
