"""An environment for each library, which sees the packages of the running one wherever their versions will do.

pip is asked inside of it, so that what a library needs in another version is installed there, and only there.
"""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import benchmarks

PACKAGES = {"MAPIE": ("mapie",), "crepes": ("crepes",), "puncc": ("puncc",), "TorchCP": ("torchcp",)}
"""what pip is asked for; other libraries of the recipes are here already"""
_DONE, _MISSING = "installed", "missing"
"""files in the folder of an environment: a version, or why there is none"""


class PeerEnvironmentError(RuntimeError):
    """A library's process failed; the message has its last words."""


def environment_of(kept: Path, library: str) -> str:
    """Makes it where it is missing; the library's version, or why it could not be installed."""
    folder = _folder(kept, library)
    for file in (folder / _DONE, folder / _MISSING):
        if file.exists():
            return file.read_text(encoding="utf-8")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    _share_packages(folder)
    done = subprocess.run(
        [sys.executable, "-m", "pip", "--python", _python(folder), "install", "--quiet", *PACKAGES[library]],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        said = [line for line in done.stderr.splitlines() if line.lstrip().startswith(("ERROR", "error"))]
        reason = f"not installed: {said[-1].strip() if said else 'pip failed'}"
        (folder / _MISSING).write_text(reason, encoding="utf-8")
        return reason
    code = f"from importlib.metadata import version; print(version({PACKAGES[library][0]!r}), end='')"
    version = subprocess.run([_python(folder), "-c", code], capture_output=True, text=True, check=True).stdout
    (folder / _DONE).write_text(version, encoding="utf-8")
    return version


def python_of(kept: Path, library: str) -> Path | None:
    """The interpreter that has the library; None if it could not be installed."""
    if library not in PACKAGES:
        return Path(sys.executable)
    folder = _folder(kept, library)
    return _python(folder) if (folder / _DONE).exists() else None


def process_environment() -> dict[str, str]:
    """One thread, and the checkout in which the benchmarks are."""
    assert benchmarks.__file__ is not None
    threads = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    return {**os.environ, **threads, "PYTHONPATH": str(Path(benchmarks.__file__).parents[1])}


def _folder(kept: Path, library: str) -> Path:
    return kept.resolve() / "peers" / library.lower()


def _python(folder: Path) -> Path:
    return folder / "bin" / "python"


def _share_packages(folder: Path) -> None:
    """Packages of the running environment are found after those that were installed into the new one."""
    paths = dict.fromkeys(sysconfig.get_path(name) for name in ("purelib", "platlib"))
    (own,) = folder.glob("lib/python*/site-packages")
    lines = [f"import site; site.addsitedir({path!r})" for path in paths]
    (own / "running_environment.pth").write_text("\n".join(lines) + "\n", encoding="utf-8")
