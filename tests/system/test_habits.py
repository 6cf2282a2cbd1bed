"""What every file of the repository is held to, whoever wrote it."""

import ast
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

import pytest
from ruamel.yaml import YAML

ROOT = Path(__file__).parents[2]
SOURCES = ("core", "service", "worker", "benchmarks", "src")
PAGES = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")
_HOSTS = re.compile(
    r"\b(?:pypi|pythonhosted|pytorch|npmjs|yarnpkg|anaconda|jsdelivr|unpkg|cdnjs|cloudflare|docker|ghcr|quay|gcr|huggingface)"
    r"\.(?:org|com|net|io|co|dev)\b",
    re.IGNORECASE,
)
_PATHS = re.compile(r"(?<![\w.…-])/(?:root|work|Users|home/\w+)/[\w.-]+")
_PICKLERS = {"pickle", "cPickle", "cloudpickle", "dill", "joblib", "marshal", "shelve"}
_ALLOWED = {"/root/.cache"}
"""a folder inside of the image while it is built"""


def test_sources_are_found() -> None:
    """The other tests would be content with none."""
    assert {"core/bounds/chernoff.py", "service/static/app.js", "worker/__main__.py", "src/certiset/__init__.py"} <= {
        str(file.relative_to(ROOT)) for file in _sources("py", "js")
    }
    assert {"Makefile", ".ci/run", "Dockerfile", "tests/system/test_habits.py"} <= {
        str(file.relative_to(ROOT)) for file in _files()
    }


def test_every_source_file_is_shorter_than_300_lines() -> None:
    lengths = {str(file.relative_to(ROOT)): file.read_text().count("\n") for file in _sources("py", "js")}
    assert {name: lines for name, lines in lengths.items() if lines >= 300} == {}


def test_every_module_says_what_it_holds() -> None:
    silent = [
        str(file.relative_to(ROOT))
        for file in _sources("py")
        if file.stat().st_size and ast.get_docstring(ast.parse(file.read_text())) is None
    ]
    assert silent == []


def test_no_file_is_a_drawer_for_all_sorts_of_things() -> None:
    drawers = ("utils", "util", "helpers", "helper", "misc", "common_functions", "manager")
    assert [file for file in _sources("py", "js") if file.stem in drawers] == []


def test_nothing_is_pickled() -> None:
    """Unpickling runs whatever code a file asks for."""
    found = [
        f"{file.relative_to(ROOT)}: {unpickler}"
        for file in _sources("py")
        for node in ast.walk(ast.parse(file.read_text()))
        for unpickler in _unpicklers(node)
    ]
    assert found == []


@pytest.mark.parametrize(
    "code", ["import pickle", "from joblib import load", "np.load(f, allow_pickle=True)", "weights = torch.load(f)"]
)
def test_unpicklers_are_recognised(code: str) -> None:
    assert [name for node in ast.walk(ast.parse(code)) for name in _unpicklers(node)]


def _unpicklers(node: ast.AST) -> list[str]:
    match node:
        case ast.Import(names=names):
            return [alias.name for alias in names if alias.name.split(".")[0] in _PICKLERS]
        case ast.ImportFrom(module=str(module)):
            return [module] if module.split(".")[0] in _PICKLERS else []
        case ast.keyword(arg="allow_pickle", value=value):
            return [] if isinstance(value, ast.Constant) and value.value is False else ["allow_pickle"]
        case ast.Attribute(value=ast.Name(id="torch"), attr="load"):
            return ["torch.load"]
    return []


def test_the_repository_names_no_package_host_and_nobodys_folders() -> None:
    found = []
    for file in _files():
        try:
            text = file.read_text()
        except UnicodeDecodeError:
            continue
        for match in (*_HOSTS.finditer(text), *_PATHS.finditer(text)):
            if match[0] not in _ALLOWED:
                found.append(f"{file.relative_to(ROOT)}:{text.count(chr(10), 0, match.start()) + 1} has {match[0]}")
    assert found == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("https://files.python" + "hosted.org/packages", True),
        ("--index-url https://download.py" + "torch.org/whl/cpu", True),
        ("cd /ro" + "ot/project", True),
        ("open('/wo" + "rk/main/file')", True),
        ("docs/results/work/", False),
        ("PyPI and pytorch", False),
        ("/srv/certiset/home/key", False),
    ],
)
def test_hosts_and_folders_are_recognised(text: str, found: bool) -> None:
    assert bool(_HOSTS.search(text) or _PATHS.search(text)) is found


def test_pre_commit_runs_the_commands_of_make_lint_and_fetches_nothing() -> None:
    (recipe,) = re.findall(r"^lint:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), re.MULTILINE)
    commands = [line.strip().replace("$(BIN)", ".venv/bin") for line in recipe.splitlines()]
    repositories = YAML(typ="safe").load(ROOT / ".pre-commit-config.yaml")["repos"]
    assert [repository["repo"] for repository in repositories] == ["local"]
    hooks = repositories[0]["hooks"]
    assert [hook["entry"] for hook in hooks] == commands
    assert {hook["language"] for hook in hooks} == {"system"}
    # The commands know their files themselves, as they do in CI.
    assert all(hook["always_run"] and not hook["pass_filenames"] for hook in hooks)


def test_one_version_everywhere() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    citation = YAML(typ="safe").load(ROOT / "CITATION.cff")
    newest = re.search(r"^## v?(\d+\.\d+\.\d+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert citation["version"] == version
    assert newest is not None, "CHANGELOG.md has no heading with a version"
    assert newest[1] == version
    assert f"now {version}." in (ROOT / "docs" / "versioning.md").read_text()
    assert f"now {version.rpartition('.')[0]}:" in (ROOT / "SECURITY.md").read_text()


def test_one_licence_everywhere() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert (ROOT / "LICENSE").read_text().startswith("MIT License\n")
    assert project["license"] == YAML(typ="safe").load(ROOT / "CITATION.cff")["license"] == "MIT"


def test_the_citation_file_is_valid() -> None:
    program = Path(sys.executable).with_name("check-jsonschema")
    command = [str(program), "--builtin-schema", "vendor.citation-file-format", str(ROOT / "CITATION.cff")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_contributors_are_told_of_targets_and_variables_that_there_are() -> None:
    page, makefile = (ROOT / "CONTRIBUTING.md").read_text(), (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"`make ([a-z-]+)", page))
    assert {"setup", "check", "lint", "test", "test-slow", "bench"} <= targets
    assert targets <= set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    sources = "".join(file.read_text() for file in (ROOT / "tests").rglob("*.py"))
    assert set(re.findall(r"CERTISET_TEST_\w+", sources)) == set(re.findall(r"CERTISET_TEST_\w+", page))


@pytest.mark.parametrize("page", PAGES)
def test_pages_at_the_root_link_to_what_is_there(page: str) -> None:
    targets = re.findall(r"\]\(([^)\s#]+)", (ROOT / page).read_text())
    assert [target for target in targets if ":" not in target and not (ROOT / target).exists()] == []


def _sources(*suffixes: str) -> Iterator[Path]:
    """Every source file once: the links in src lead to folders that are walked anyway."""
    for file in _files():
        if file.relative_to(ROOT).parts[0] in SOURCES and file.suffix[1:] in suffixes:
            yield file


def _files() -> Iterator[Path]:
    """Every file that git would keep; a copy without git's own folder will do."""
    ignored = [line.strip("/") for line in (ROOT / ".gitignore").read_text().split()]

    def kept(path: Path) -> bool:
        names = (path.name, str(path.relative_to(ROOT)))
        return not path.is_symlink() and not any(fnmatch(name, each) for name in names for each in ignored)

    for place, folders, names in os.walk(ROOT):
        folder = Path(place)
        folders[:] = [name for name in folders if name != ".git" and kept(folder / name)]
        yield from (folder / name for name in names if kept(folder / name))
