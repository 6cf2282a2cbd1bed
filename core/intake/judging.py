"""Building a stranger's model for the first time, in a process that may take only so much memory and time.

A small ONNX file can ask for terabytes, or loop for ever. What it does to this process it cannot do to the service.
"""

import contextlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from core.confining import confine
from core.errors import ModelError

_SECONDS = 60
_BYTES = 6 * 2**30


def judge(manifest: dict[str, Any], weights: Path | None, onnx: Path | None) -> None:
    """Raises `ModelError` if the model cannot be built within the limits."""
    asked = {"manifest": manifest, "weights": weights and str(weights), "onnx": onnx and str(onnx)}
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-m", "core.intake.judging"],
            input=json.dumps(asked).encode(),
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ModelError(f"the model did not answer a first input within {_SECONDS} seconds.") from None
    answer = {}
    with contextlib.suppress(ValueError, IndexError):
        answer = json.loads(done.stdout.splitlines()[-1])
    if answer.get("refused"):
        raise ModelError(answer["refused"])
    if done.returncode != 0 or not answer.get("built"):
        raise ModelError(f"the model broke, or needs more than {_BYTES // 2**30} GiB, on a first input of zeros.")


def main() -> None:
    confine(_BYTES, _SECONDS)
    from core.models import Model  # noqa: PLC0415

    asked = json.load(sys.stdin)
    try:
        Model.from_manifest(asked["manifest"], asked["weights"], onnx=asked["onnx"])
    except ModelError as error:
        print(json.dumps({"refused": str(error)}))
    else:
        print(json.dumps({"built": True}))


if __name__ == "__main__":
    main()
