"""What code in a sandbox cannot do to others, and how its answer, its refusal or its end comes back."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from certiset.core import landlock
from certiset.core.confinement import Confinement
from certiset.core.errors import DataError, ModelError
from certiset.core.sandbox import Returned, SandboxError, Standing, call

pytest.importorskip("resource", reason="limits of this kind are not known on Windows")

Run = Callable[..., Returned]

HOSTILE = """
import os, resource, subprocess, sys, time
import numpy as np
from certiset.core.errors import DataError

def echo(**given): return given
def nothing(): return None
def arrays():
    return np.arange(6, dtype=">f4").reshape(2, 3)[:, ::2], np.zeros((0, 4)), np.array([True, False]), np.int8(7)
def large(): return (np.arange(3_000_000),)
def refuse(): raise DataError("Row 3 is wrong.", field="x")
def bug(): raise KeyError("bug")
def unspeakable(): return object()
def abort(): os.abort()
def quit(): os._exit(0)
def exhaust(): return len(bytearray(2**32))
def spin():
    while True: pass
def sleep(): time.sleep(600)
def chatter():
    print("garbage " * 10_000, flush=True)
    os.write(1, b"{}\\n")
    sys.stderr.write("garbage " * 10_000)
    return "clean"
def environment(): return sorted(os.environ)
def look(file):
    try:
        return open(file).read()
    except OSError as error:
        return type(error).__name__
def count(content, add): return sum(content) + add
def process(content): return os.getpid()
def crash(content): return os.abort() if content else "well"
def rest(content): time.sleep(600)
def leave_behind():
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    return child.pid
"""


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Calls one of the functions above in a sandbox."""
    (tmp_path / "hostile.py").write_text(HOSTILE)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)

    def run(function: str, *, seconds: float = 60, cpu_seconds: int = 30, **given: object) -> Returned:
        confinement = Confinement(memory=2**31, cpu_seconds=cpu_seconds)
        return call(f"hostile:{function}", given, confinement=confinement, seconds=seconds)

    return run


@pytest.fixture
def standing(run: Run) -> Iterator[Callable[..., Standing]]:
    """One of the functions above in a process that stays."""
    made = []

    def stand(function: str, seconds: float = 60) -> Standing:
        made.append(Standing(f"hostile:{function}", confinement=Confinement(memory=2**31), seconds=seconds))
        return made[-1]

    yield stand
    for one in made:
        assert one.stop()


def confined(code: str, memory: int = 2**30, seconds: int = 5) -> "subprocess.CompletedProcess[str]":
    program = (
        "from certiset.core.confinement import Confinement\n"
        f"Confinement(memory={memory}, cpu_seconds={seconds}).limit()\n{textwrap.dedent(code)}"
    )
    return subprocess.run(
        [sys.executable, "-P", "-c", program], capture_output=True, text=True, timeout=60, check=False
    )


def test_values_come_back(run: Run) -> None:
    given = {"text": "\u00e4\n\x00", "numbers": [1, 2.5, None], "nested": {"a": [True]}}
    assert run("echo", **given) == Returned(given, [])
    assert run("nothing") == Returned(None, [])


def test_arrays_come_back_whole(run: Run) -> None:
    strided, empty, booleans, single = run("arrays").arrays
    assert strided.dtype.str == ">f4"
    assert strided.tolist() == [[0, 2], [3, 5]]
    assert empty.shape == (0, 4)
    assert booleans.tolist() == [True, False]
    assert single.item() == 7
    assert np.array_equal(run("large").arrays[0], np.arange(3_000_000))


def test_an_error_of_certiset_is_raised_here(run: Run) -> None:
    with pytest.raises(DataError, match=r"Row 3 is wrong\.") as caught:
        run("refuse")
    assert caught.value.field == "x"
    assert not isinstance(caught.value, ModelError)


@pytest.mark.parametrize(
    ("function", "words"),
    [
        ("bug", "ended with exit code 1"),
        ("unspeakable", "ended with exit code 1"),
        ("missing", "ended with exit code 1"),
        ("abort", "was killed by SIGABRT"),
        ("quit", "ended with exit code 0"),
        ("exhaust", "needs more memory than it may use"),
    ],
)
def test_any_other_end_is_said(run: Run, function: str, words: str) -> None:
    with pytest.raises(SandboxError, match=words):
        run(function)


def test_time_ends_where_it_should(run: Run) -> None:
    begin = time.monotonic()
    with pytest.raises(SandboxError, match=r"did not finish within 1\.5 seconds"):
        run("sleep", seconds=1.5)
    assert time.monotonic() - begin < 20
    with pytest.raises(SandboxError, match=r"used more CPU time than it may"):
        run("spin", cpu_seconds=1)


def test_what_libraries_print_does_not_garble_the_answer(run: Run) -> None:
    assert run("chatter").value == "clean"


def test_it_inherits_no_secret_and_reads_no_key(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    secrets = {"CERTISET_DATABASE_URL", "CERTISET_API_KEYS", "AWS_SECRET_ACCESS_KEY", "PGPASSWORD"}
    for name in secrets:
        monkeypatch.setenv(name, "a secret")
    assert secrets.isdisjoint(run("environment").value)
    key = tmp_path / "home" / "signing.pem"
    key.parent.mkdir()
    key.write_text("a key")
    assert run("look", file=str(key)).value == ("PermissionError" if landlock.version() else "a key")


def test_nothing_that_it_started_is_left_behind(run: Run) -> None:
    pid = run("leave_behind").value
    for _ in range(100):
        if not Path(f"/proc/{pid}").exists() or "Z" in Path(f"/proc/{pid}/stat").read_text().split()[2]:
            return
        time.sleep(0.05)
    pytest.fail("a process was left behind")


def test_one_process_answers_call_after_call(standing: Callable[..., Standing]) -> None:
    count, process = standing("count"), standing("process")
    assert count(b"", {"add": 7}, 0).value == 7
    assert count(b"\x01\n" * 10**6, {"add": 1}, 0).value == 11 * 10**6 + 1
    first = process(b"", {}, 0).value
    assert process(b"", {}, 0).value == first
    assert process.stop()
    assert process(b"", {}, 0).value != first


def test_a_process_that_stays_is_started_again_after_it_died(standing: Callable[..., Standing]) -> None:
    crash, rest = standing("crash"), standing("rest", seconds=1.5)
    assert crash(b"", {}, 0).value == "well"
    with pytest.raises(SandboxError, match="was killed by SIGABRT"):
        crash(b"!", {}, 0)
    assert crash(b"", {}, 0).value == "well"
    with pytest.raises(SandboxError, match=r"did not finish within 1\.5 seconds"):
        rest(b"", {}, 0)


def test_memory_ends_where_it_should() -> None:
    done = confined(
        """
        kept = bytearray(2**28)
        try:
            bytearray(2**30)
        except MemoryError:
            print("refused", len(kept))
        """
    )
    assert (done.stdout, done.returncode) == (f"refused {2**28}\n", 0), done.stderr


def test_computing_time_ends_where_it_should() -> None:
    done = confined("while True: pass", seconds=1)
    assert done.returncode in (-signal.SIGXCPU, -signal.SIGKILL)


def test_a_process_that_breaks_leaves_no_image_of_its_memory() -> None:
    done = confined("import resource; print(resource.getrlimit(resource.RLIMIT_CORE))")
    assert done.stdout == "(0, 0)\n"


def test_a_limit_that_cannot_be_set_leaves_the_others() -> None:
    done = confined("import resource; print(resource.getrlimit(resource.RLIMIT_CPU)[0])", memory=2**70)
    assert (done.stdout, done.returncode) == ("5\n", 0), done.stderr
