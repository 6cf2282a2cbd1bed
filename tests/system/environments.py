"""Environments with a few packages more than that of the tests, which lends them all that it has, PyTorch included."""

import subprocess
import sys
import sysconfig
from pathlib import Path

from tests.servers import missing


def environment_with(folder: Path, *packages: str) -> Path:
    """The folder of programs of a new environment that has these packages from the index as well."""
    run = [sys.executable, "-m", "venv", "--without-pip", str(folder)]
    subprocess.run(run, check=True, capture_output=True)
    site_packages = next(folder.glob("lib/python*/site-packages"))
    # A .pth file of a folder that another one names is not read: what it names is repeated.
    own = Path(sysconfig.get_paths()["purelib"])
    named = [line for file in own.glob("*.pth") for line in file.read_text().splitlines() if Path(line).is_dir()]
    (site_packages / "lent.pth").write_text("\n".join([*named, str(own)]) + "\n")
    install = [sys.executable, "-m", "pip", "--python", str(folder / "bin" / "python"), "install", "-q", *packages]
    done = subprocess.run(install, capture_output=True, text=True, check=False)
    if "No matching distribution" in done.stderr:
        missing(f"{', '.join(packages)} cannot be installed from the package index.")
    assert done.returncode == 0, done.stderr[-3000:]
    return folder / "bin"


def run_in(programs: Path, *command: str, cwd: Path, **environment: str) -> str:
    """What the command printed."""
    done = subprocess.run(
        [str(programs / command[0]), *command[1:]],
        cwd=cwd,
        env={"PATH": f"{programs}:/usr/bin:/bin", "HOME": str(cwd), "OMP_NUM_THREADS": "1", **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=900,  # each process that it starts may import PyTorch, beside a busy suite
    )
    assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    return done.stdout
