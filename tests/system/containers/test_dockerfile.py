"""The Dockerfile and what it is allowed to see."""

import fnmatch
import re
from pathlib import Path

import pytest

from tests.system.containers.files import ROOT, dockerfile


def ignored(path: str) -> bool:
    """As Docker decides: the last pattern that fits the path, or a folder above it, counts."""
    answer = False
    for line in (ROOT / ".dockerignore").read_text().splitlines():
        pattern = line.strip()
        if not pattern or pattern.startswith("#"):
            continue
        keeps = pattern.startswith("!")
        if any(_fits(str(part), pattern.lstrip("!")) for part in (Path(path), *Path(path).parents)):
            answer = not keeps
    return answer


def _fits(path: str, pattern: str) -> bool:
    if pattern.startswith("**/"):
        return any(fnmatch.fnmatchcase(part, pattern[3:]) for part in Path(path).parts)
    return "/" not in path and path != "." and fnmatch.fnmatchcase(path, pattern)


def copied() -> list[str]:
    return [
        source
        for instruction in dockerfile()
        if instruction.name == "COPY" and instruction.stage == 0
        for source in instruction.words[:-1]
    ]


def test_every_copied_path_exists_and_is_sent_to_the_build() -> None:
    assert copied()
    for source in copied():
        assert (ROOT / source).exists(), source
        assert not ignored(source), source


@pytest.mark.parametrize("suffix", [".py", ".mako", ".html", ".css", ".js"])
def test_code_and_its_files_are_sent(suffix: str) -> None:
    packages = [path for name in ("core", "service", "worker") for path in (ROOT / name).rglob(f"*{suffix}")]
    assert not [path for path in packages if ignored(str(path.relative_to(ROOT)))]


@pytest.mark.parametrize(
    "path",
    [
        ".git/config",
        ".venv/bin/python",
        "var/key",
        "var/secret",
        "var/signing.pem",
        "secrets/database_url",
        "deploy/kubernetes/secrets.yaml",
        "service/signing.pem",
        "core/tls.key",
        "worker/.env",
        "service/var/key",
        ".env",
        "tests/conftest.py",
        "core/__pycache__/errors.cpython-311.pyc",
    ],
)
def test_state_keys_and_history_are_not(path: str) -> None:
    assert ignored(path)


def test_bases_are_pinned_and_the_same() -> None:
    instructions = dockerfile()
    assert re.fullmatch(r"BASE=python:3\.\d+\.\d+-slim-\w+", instructions[0].text)
    bases = [i.text.split(" AS ")[0] for i in instructions if i.name == "FROM"]
    assert bases == ["${BASE}"] * 2


def test_the_image_runs_as_nobody_special_and_is_watched() -> None:
    last = [i for i in dockerfile() if i.stage == 1]
    (user,) = (i.text for i in last if i.name == "USER")
    assert re.fullmatch(r"[1-9]\d+:[1-9]\d+", user)
    (accounts,) = (i.text for i in last if i.name == "RUN")
    uid, gid = user.split(":")
    assert f"--uid {uid} --gid {gid}" in accounts
    assert f"--owner={uid} --group={gid}" in accounts
    assert [i.name for i in last].index("COPY") < [i.name for i in last].index("USER"), "code belongs to root"
    assert sum(i.name == "HEALTHCHECK" for i in last) == 1


def test_variants_are_checked_when_they_are_built() -> None:
    steps = [i.text for i in dockerfile() if i.name == "RUN" and i.stage == 0]
    assert "$VARIANT" in steps[-1]
    assert '${TORCH_INDEX:+--index-url "$TORCH_INDEX"} $TORCH' in steps[1]
