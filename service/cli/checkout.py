"""The project's checkout: benchmarks are not installed, and run from there in separate processes."""

import os
import sys
from pathlib import Path

import certiset
from certiset import extras
from certiset.service.cli.errors import CommandError


def benchmark_process(module: str, command: str) -> tuple[list[str], dict[str, str]]:
    """The command and the environment that run ``benchmarks.MODULE``; a `CommandError` where that is impossible."""
    folder = next((folder for folder in _candidates() if (folder / "benchmarks" / "evidence").is_dir()), None)
    if folder is None:
        raise CommandError("The benchmarks are not installed with certiset: run this in a checkout of the project.")
    extras.require("server", command)
    known = os.environ.get("PYTHONPATH")
    path = os.pathsep.join([str(folder), known] if known else [str(folder)])
    return [sys.executable, "-m", f"benchmarks.{module}"], {**os.environ, "PYTHONPATH": path}


def _candidates() -> list[Path]:
    """The folder that this code was loaded from, which may be a checkout, and the current one."""
    assert certiset.__file__ is not None
    return [Path(certiset.__file__).resolve().parents[2], Path.cwd()]
