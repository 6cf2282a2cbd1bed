"""The Dockerfile's install steps, run as a script in a clean environment: there is no Docker engine where tests run.

PyTorch and what it alone needs are lent by the environment of the tests, so that gigabytes are not fetched again;
everything else is installed as in an image, from an index. What is then started has no source tree to fall back on.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from importlib.metadata import Distribution, distribution, distributions
from pathlib import Path

import httpx
import pytest

from tests.servers import free_port, missing, wait_until
from tests.system.containers.files import ROOT, dockerfile

_LENT = re.compile(r"torch|torchvision|triton|(nvidia|cuda)[-_].*", re.IGNORECASE)


@pytest.fixture(name="environment")
def environment_() -> dict[str, str]:
    """What a container has: nothing of the developer's."""
    return {name: os.environ[name] for name in os.environ if name in ("HOME", "LANG") or name.startswith("PIP_")}


@pytest.fixture(name="installed")
def installed_(tmp_path: Path, environment: dict[str, str]) -> Path:
    """The folder of programs of an environment made by the steps of the first stage."""
    root = tmp_path / "image"
    root.mkdir()
    source, target = root / "src", root / "opt" / "certiset"
    source.mkdir()
    arguments: dict[str, str] = {}
    for instruction in dockerfile():
        if instruction.stage == 0 and instruction.name == "ARG":
            name, _, value = instruction.text.partition("=")
            arguments[name] = value.strip('"')
        elif instruction.stage == 0 and instruction.name == "COPY":
            *paths, _ = instruction.words
            for path in paths:
                copy(ROOT / path, source / path)
        elif instruction.stage == 0 and instruction.name == "RUN":
            step = instruction.text.replace("/opt/certiset", str(target))
            path = f"{Path(sys.executable).resolve().parent}:{os.environ['PATH']}"
            done = subprocess.run(
                ["sh", "-euc", step],
                cwd=source,
                env={**environment, **arguments, "PATH": path},
                capture_output=True,
                text=True,
                check=False,
            )
            if "No matching distribution" in done.stderr and "connection" in done.stderr:
                missing("The package index cannot be reached.")
            assert done.returncode == 0, f"{step}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
            if "venv" in step:
                lend_torch(root / "lent", next(target.glob("lib/python*/site-packages")))
    shutil.rmtree(source)
    return target / "bin"


def copy(source: Path, target: Path) -> None:
    if source.is_file():
        shutil.copy(source, target)
    else:
        shutil.copytree(source, target, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))


def lend_torch(folder: Path, site_packages: Path) -> None:
    """Makes the tests' own PyTorch visible, and of all else that is installed beside it nothing."""
    folder.mkdir()
    for lent in distributions():
        if _LENT.fullmatch(lent.metadata["Name"]):
            for entry in top_level(lent):
                if not (folder / entry.name).exists():
                    (folder / entry.name).symlink_to(entry)
    (site_packages / "lent.pth").write_text(f"{folder}\n")


def top_level(lent: Distribution) -> set[Path]:
    names = {file.parts[0] for file in lent.files or [] if file.parts[0] not in ("..", "__pycache__")}
    return {Path(str(lent.locate_file(name))) for name in names}


@pytest.fixture(name="programs")
def programs_(installed: Path, environment: dict[str, str], tmp_path: Path) -> Iterator[tuple[Path, int]]:
    """API and worker, run from an empty folder as the image runs them."""
    port = free_port()
    (command,) = (i.words for i in dockerfile() if i.name == "CMD")
    started = []
    for arguments in ([str(port) if word == "8000" else word for word in command], ["worker"]):
        with (tmp_path / f"{arguments[0]}.log").open("wb") as log:
            started.append(
                subprocess.Popen(
                    [str(installed / "certiset"), *arguments],
                    cwd=tmp_path,
                    env={**environment, "CERTISET_HOME": str(tmp_path / "home"), "PATH": f"{installed}:/usr/bin:/bin"},
                    stdout=log,
                    stderr=log,
                )
            )
    try:
        yield tmp_path, port
    finally:
        for process in started:
            process.terminate()
        for process in started:
            process.wait(timeout=60)


def test_the_installed_service_answers(programs: tuple[Path, int], installed: Path) -> None:
    folder, port = programs
    assert_not_the_source_tree(installed, folder)

    def healthy() -> bool:
        """By the image's own check."""
        (check,) = (i.text.removeprefix("CMD").strip() for i in dockerfile() if i.name == "HEALTHCHECK")
        code = re.findall(r'"(import .*)"\]', check)[0].replace(":8000/", f":{port}/")
        return subprocess.run([installed / "python", "-c", code], capture_output=True, check=False).returncode == 0

    wait_until(healthy, 120, f"the API: {(folder / 'api.log').read_text()}")
    with httpx.Client(base_url=f"http://127.0.0.1:{port}") as client:
        assert client.get("/healthz").json() == {"status": "ok"}
        assert client.get("/readyz").json()["ready"] is True
        static = ROOT / "service" / "static"
        for file in (file.relative_to(static) for file in static.rglob("*") if file.is_file()):
            assert client.get(f"/static/{file}").status_code == 200, file
        assert client.get("/").status_code == 200
        assert client.get("/openapi.json").json()["paths"]
    wait_until(partial(_says, folder / "worker.log", "ready, with"), 120, "the worker")


def _says(log: Path, words: str) -> bool:
    return words in log.read_text()


def assert_not_the_source_tree(installed: Path, folder: Path) -> None:
    code = (
        "import certiset.core, certiset.service, certiset.worker; print(certiset.core.__file__, certiset.__version__)"
    )
    done = subprocess.run([str(installed / "python"), "-c", code], cwd=folder, capture_output=True, check=True)
    file, version = done.stdout.decode().split()
    assert Path(file).is_relative_to(installed.parent)
    assert version == distribution("certiset").version
