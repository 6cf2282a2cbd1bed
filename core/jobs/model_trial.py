"""Building a stranger's model for the first time, in a sandbox: a small ONNX file can ask for terabytes, or loop."""

from pathlib import Path
from typing import Any

from certiset.core import sandbox
from certiset.core.errors import ModelError

_SECONDS = 60
_MEMORY = 6 * 2**30


def try_model(manifest: dict[str, Any], weights: Path | None, onnx: Path | None) -> None:
    """Raises `ModelError` if the model cannot be built within the limits."""
    files = {"weights": weights and str(weights.absolute()), "onnx": onnx and str(onnx.absolute())}
    try:
        sandbox.call(
            f"{__name__}:{build_model.__name__}",
            {"manifest": manifest, **files},
            limits=sandbox.ResourceLimits(memory=_MEMORY, cpu_seconds=_SECONDS),
            seconds=_SECONDS,
        )
    except sandbox.SandboxError as error:
        raise ModelError(
            f"The model could not be run on a test input, with at most {_MEMORY // 2**30} GiB and {_SECONDS} seconds: "
            f"its process {error}."
        ) from error


def build_model(manifest: dict[str, Any], weights: str | None, onnx: str | None) -> None:
    """This runs in the sandbox."""
    from certiset.core.models import Model  # noqa: PLC0415 (torch is loaded within the limits)

    Model.from_manifest(manifest, weights, onnx=onnx)
