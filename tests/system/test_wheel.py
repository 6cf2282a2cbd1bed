"""A plain `pip install certiset`, as a client and an auditor have it: no PyTorch, no web framework, no database.

The wheel is built from a copy of the sources and installed into an empty environment, where nothing of the checkout
can be imported. What it depends on comes from a package index, as pip is set up to find it.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.servers import missing
from tests.service.server import Server, server_with_worker

ROOT = Path(__file__).parents[2]
OLD = ROOT / "tests" / "system" / "upgrade" / "deployment_0_1_0"
SOURCES = ("pyproject.toml", "README.md", "LICENSE", "src", "core", "service", "worker")
LARGEST = 300e6
"""bytes of an installation"""
LONGEST_IMPORT = 0.15
"""seconds"""
_HEAVY = ("torch", "fastapi", "sqlalchemy", "celery", "matplotlib", "pyarrow", "sklearn")


@dataclass(frozen=True)
class Installation:
    python: Path
    folder: Path
    """empty, and no checkout: where its programs are run"""

    def run(self, *command: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
        """One of its programs, by name, with nothing of the developer's environment."""
        program, *arguments = command
        return subprocess.run(
            [self.python.with_name(str(program)), *arguments],
            cwd=self.folder,
            env={"PATH": os.defpath, "HOME": str(self.folder), "LANG": "C.UTF-8", **environment},
            capture_output=True,
            text=True,
            check=False,
        )

    def evaluate(self, code: str) -> str:
        done = self.run("python", "-I", "-c", code)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()


@pytest.fixture(name="wheel", scope="module")
def wheel_(tmp_path_factory: pytest.TempPathFactory) -> Path:
    copy, target = tmp_path_factory.mktemp("sources"), tmp_path_factory.mktemp("dist")
    ignored = shutil.ignore_patterns("__pycache__", "*.egg-info", "build")
    for name in SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, copy / name, symlinks=True, ignore=ignored)
        else:
            shutil.copy(ROOT / name, copy / name)
    pip("wheel", "--no-deps", "--wheel-dir", target, copy)
    (wheel,) = target.iterdir()
    return wheel


@pytest.fixture(name="plain", scope="module")
def plain_(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    root = tmp_path_factory.mktemp("plain")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", root / "environment"], check=True)
    (root / "empty").mkdir()
    made = Installation(root / "environment" / "bin" / "python", root / "empty")
    pip("--python", made.python, "install", wheel)
    yield made
    # pytest keeps the folders of its last runs, and these are large.
    shutil.rmtree(root)


def pip(*arguments: str | Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pip", *arguments],
        env={"PIP_RETRIES": "2", **os.environ},
        capture_output=True,
        text=True,
        check=False,
    )
    said = done.stdout + done.stderr
    if done.returncode and "No matching distribution" in said and "connection" in said.lower():
        missing("The package index cannot be reached.")
    assert done.returncode == 0, said[-4000:]


def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    with ZipFile(wheel) as archive:
        found = {Path(name) for name in archive.namelist() if not name.endswith("/")}
    (information,) = {path.parts[0] for path in found} - {"certiset"}
    assert information.endswith(".dist-info")
    assert Path(information, "licenses", "LICENSE") in found
    package = {
        Path(folder, name).relative_to(ROOT / "src")
        for folder, _, names in os.walk(ROOT / "src" / "certiset", followlinks=True)
        for name in names
        if not folder.endswith("__pycache__")
    }
    assert {path for path in found if path.parts[0] == "certiset"} == package
    needed = ("py.typed", "core/store/migrations/script.py.mako", "service/static/index.html", "worker/__main__.py")
    assert {Path("certiset", name) for name in needed} <= package


def test_a_plain_installation_is_small_and_has_neither_torch_nor_a_server(plain: Installation) -> None:
    installed = plain.evaluate(f"from importlib.util import find_spec; print(*filter(find_spec, {_HEAVY!r}))")
    assert installed == ""
    (packages,) = plain.python.parents[1].glob("lib/python*/site-packages")
    size = sum(file.stat().st_size for file in packages.rglob("*") if file.is_file())
    assert size < LARGEST, f"{size / 1e6:.0f} MB are installed, and {LARGEST / 1e6:.0f} MB should do."
    assert Path(plain.evaluate("import certiset.core; print(certiset.core.__file__)")).is_relative_to(packages)


@pytest.mark.parametrize("where", ["the plain installation", "an environment that has everything"])
def test_importing_the_package_costs_next_to_nothing(plain: Installation, where: str) -> None:
    python = plain if where == "the plain installation" else Installation(Path(sys.executable), plain.folder)
    code = (
        "import sys, time; begin = time.perf_counter(); import certiset; seconds = time.perf_counter() - begin; "
        "print(seconds, *({'torch', 'scipy', 'numpy', 'pydantic'} & set(sys.modules)))"
    )
    answers = [python.evaluate(code).split() for _ in range(5)]
    assert [loaded for _, *loaded in answers] == [[]] * 5
    assert min(float(seconds) for seconds, *_ in answers) < LONGEST_IMPORT, answers


def test_certificates_of_an_earlier_version_are_verified(plain: Installation) -> None:
    key = json.loads((OLD / "expected.json").read_text())["public_key"]
    certificates = sorted((OLD / "certificates").glob("*.json"))
    assert certificates
    for certificate in certificates:
        anybodys = plain.run("certiset", "verify", certificate)
        assert (anybodys.returncode, anybodys.stderr) == (3, ""), anybodys
        assert json.loads(certificate.read_text())["statement"] in anybodys.stdout
        theirs = plain.run("certiset", "verify", certificate, "--key", key, "--json")
        assert (theirs.returncode, theirs.stderr) == (0, ""), theirs
        assert json.loads(theirs.stdout)["valid"] is True
    somebody_elses = plain.run("certiset", "verify", certificates[0], "--key", "A" * 43 + "=")
    assert somebody_elses.returncode == 3
    assert "nobody that you named has signed" in somebody_elses.stdout


def test_a_certificate_with_a_changed_number_is_not(plain: Installation) -> None:
    changed = json.loads(next((OLD / "certificates").glob("*.json")).read_text())
    changed["coverage"]["alpha"] /= 2
    file = plain.folder / "changed.json"
    file.write_text(json.dumps(changed))
    assert plain.run("certiset", "verify", file).returncode == 1
    assert plain.evaluate(f"import certiset; print(certiset.verify({str(file)!r}).valid)") == "False"


def test_budgets(plain: Installation) -> None:
    done = plain.run("certiset", "budget", "--n", "1000", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    ranks = {"vovk_2a": 61, "seeger": 67, "chernoff": 77, "per_draw": 85, "vovk_2b": 85}
    assert json.loads(done.stdout)["largest_rank"] == ranks
    assert plain.evaluate("from certiset import bounds; print(bounds.vovk_2b(1000, 0.1, 0.05))") == "85"


def test_the_package_is_also_a_program(plain: Installation) -> None:
    by_module, by_name = plain.run("python", "-m", "certiset", "--help"), plain.run("certiset", "--help")
    assert (by_module.returncode, by_module.stderr) == (0, "")
    assert by_module.stdout == by_name.stdout
    for command in ("verify", "budget", "predict", "up"):
        assert f"    {command} " in by_module.stdout


@pytest.mark.parametrize("name", ["fit", "load", "Model", "Predictor"])
def test_a_name_that_needs_an_extra_says_which(plain: Installation, name: str) -> None:
    for code in (f"from certiset import {name}", f"import certiset\n    certiset.{name}"):
        caught = plain.evaluate(f"try:\n    {code}\nexcept ModuleNotFoundError as error: print(error.name, error)")
        package, _, sentence = caught.partition(" ")
        assert package == "torch"
        assert sentence == f"certiset.{name} needs the package torch: pip install 'certiset[fit]'"


@pytest.mark.parametrize(
    ("command", "extra"),
    [
        ("up", "server"),
        ("demo", "server"),
        ("api", "server"),
        ("worker", "server"),
        ("migrate", "server"),
        ("keys list", "server"),
        ("jobs list", "server"),
        ("budget --n 100 --plot budget.svg", "plot"),
        ("data mnist", "fit"),
    ],
)
def test_a_command_that_needs_an_extra_says_which(plain: Installation, command: str, extra: str) -> None:
    name, *arguments = command.split()
    done = plain.run("certiset", name, *arguments)
    assert done.returncode == 2
    (sentence,) = done.stderr.splitlines()
    assert sentence.startswith(f"certiset {name} needs ")
    assert f"pip install 'certiset[{extra}]'" in sentence


@pytest.mark.parametrize("command", ["bench", "reproduce theory"])
def test_a_command_that_needs_a_checkout_says_so(plain: Installation, command: str) -> None:
    done = plain.run("certiset", *command.split())
    assert done.returncode == 2
    (sentence,) = done.stderr.splitlines()
    assert "checkout" in sentence


@pytest.fixture(name="server")
def server_(tmp_path: Path) -> Iterator[Server]:
    with server_with_worker(tmp_path) as server:
        yield server


def test_client_and_commands_against_a_running_service(plain: Installation, server: Server) -> None:
    program, key = Path(__file__).with_name("plain_client.py"), server.keys["ada"]
    done = plain.run("python", "-I", program, server.url, key)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["rows"], found["status"], found["served"]) == (600, "succeeded", [3, 1000])
    assert found["reports"] > 0
    assert found["kinds"] == ["labels"]
    assert found["coverage"] > 0.85
    assert (found["counted"], found["outcomes"]) == (1, 1)
    assert found["covered"] == [found["one_contains_its_truth"]]
    assert found["verified"]
    assert found["verified_by_the_server"]
    listed = plain.run("certiset", "certificates", "list", "--json", CERTISET_URL=server.url, CERTISET_KEY=key)
    assert listed.returncode == 0, listed.stderr
    assert json.loads(found["certificate"])["id"] in listed.stdout
    file = plain.folder / "certificate.json"
    file.write_text(found["certificate"])
    checked = plain.run("certiset", "verify", file, "--key", found["public_key"])
    assert checked.returncode == 0, checked.stdout + checked.stderr
