"""What a process can no longer do once it has confined itself."""

import signal
import subprocess
import sys
import textwrap

import pytest

pytest.importorskip("resource", reason="limits of this kind are not known on Windows")


def confined(code: str, memory: int = 2**30, seconds: int = 5) -> "subprocess.CompletedProcess[str]":
    program = f"from core.confining import confine\nconfine({memory}, {seconds})\n{textwrap.dedent(code)}"
    return subprocess.run(
        [sys.executable, "-P", "-c", program], capture_output=True, text=True, timeout=60, check=False
    )


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


def test_time_ends_where_it_should() -> None:
    done = confined("while True: pass", seconds=1)
    assert done.returncode in (-signal.SIGXCPU, -signal.SIGKILL)


def test_a_process_that_breaks_leaves_no_image_of_its_memory() -> None:
    done = confined("import resource; print(resource.getrlimit(resource.RLIMIT_CORE))")
    assert done.stdout == "(0, 0)\n"


def test_a_limit_that_cannot_be_set_leaves_the_others() -> None:
    done = confined("import resource; print(resource.getrlimit(resource.RLIMIT_CPU)[0])", memory=2**70)
    assert (done.stdout, done.returncode) == ("5\n", 0), done.stderr
