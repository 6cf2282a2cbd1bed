"""What a confined process goes without, tried by code that has taken one over."""

import json
import os
import signal
import socket
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from certiset.core import landlock
from certiset.core.confinement import Confinement, scrubbed

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Landlock and namespaces are Linux's")
needs_landlock = pytest.mark.skipif(landlock.version() < 1, reason="this kernel has no Landlock")


def run(folder: Path, code: str, confinement: Confinement) -> str:
    """What code prints in a confined process."""
    (folder / "intruder.py").write_text(textwrap.dedent(code))
    command = [sys.executable, "-P", "-m", "certiset.core.confinement", confinement.to_json(), "intruder"]
    environment = scrubbed(os.environ)
    environment["PYTHONPATH"] = os.pathsep.join([str(folder), *environment.get("PYTHONPATH", "").split(os.pathsep)])
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    return done.stdout.strip() or done.stderr


TRY = """
def attempt(action):
    try:
        action()
        print("done", end=" ")
    except Exception as error:
        print(type(error).__name__, end=" ")
"""


@needs_landlock
def test_files_beside_its_own_can_be_neither_read_nor_listed_nor_written(tmp_path: Path) -> None:
    state = tmp_path / "var"
    state.mkdir()
    (state / "signing.pem").write_text("secret")
    given, taken = tmp_path / "given", tmp_path / "taken"
    given.write_text("data")
    taken.touch()
    code = f"""
    import os
    from pathlib import Path
    {textwrap.indent(TRY, "    ")}
    attempt(lambda: Path({str(state / "signing.pem")!r}).read_text())
    attempt(lambda: Path({str(state / "new")!r}).write_text("x"))
    attempt(lambda: os.listdir("/root"))
    attempt(lambda: Path("/etc/passwd").read_text())
    attempt(lambda: os.symlink({str(state / "signing.pem")!r}, {str(tmp_path / "link")!r}))
    attempt(lambda: Path({str(given)!r}).read_text())
    attempt(lambda: Path({str(given)!r}).write_text("x"))
    attempt(lambda: Path({str(taken)!r}).write_text("x"))
    """
    found = run(tmp_path, code, Confinement(readable=(str(given),), writable=(str(taken),)))
    assert found.split() == [*["PermissionError"] * 5, "done", "PermissionError", "done"], found


@needs_landlock
def test_other_processes_can_be_neither_read_nor_ended(tmp_path: Path) -> None:
    victim = subprocess.Popen(
        [sys.executable, "-c", "import time; time.sleep(600)"], env={**os.environ, "PASSWORD": "secret"}
    )
    try:
        code = f"""
        import os
        from pathlib import Path
        {textwrap.indent(TRY, "        ")}
        attempt(lambda: Path("/proc/{victim.pid}/environ").read_bytes())
        attempt(lambda: Path("/proc/{victim.pid}/mem").open("rb"))
        attempt(lambda: os.kill({victim.pid}, {int(signal.SIGTERM)}))
        """
        found = run(tmp_path, code, Confinement(devices=True)).split()
        assert found[:2] == ["PermissionError"] * 2
        if landlock.version() >= 6:
            assert found[2] == "PermissionError"
            assert victim.poll() is None
    finally:
        victim.kill()
        victim.wait()


@pytest.mark.skipif(landlock.version() < 4, reason="this kernel's Landlock knows no network")
def test_there_is_no_network_unless_it_is_given(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        code = f"import socket; socket.create_connection({server.getsockname()!r}, timeout=5); print('connected')"
        assert "Error" in run(tmp_path, code, Confinement())
        assert run(tmp_path, code, Confinement(network=True)) == "connected"


def test_files_grow_only_so_far_and_memory_and_time_end(tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    taken.touch()
    code = f"""
    import os
    from pathlib import Path
    {textwrap.indent(TRY, "    ")}
    attempt(lambda: Path({str(taken)!r}).write_bytes(bytes(2000)))
    attempt(lambda: os.ftruncate(os.memfd_create("hidden"), 2000))
    attempt(lambda: bytearray(2**32))
    """
    confinement = Confinement(memory=2**30, cpu_seconds=60, largest_file=1000, writable=(str(taken),))
    assert run(tmp_path, code, confinement).split() == ["OSError", "OSError", "MemoryError"]


def test_no_secret_is_inherited() -> None:
    secrets = {"CERTISET_DATABASE_URL": "a", "CERTISET_API_KEYS": "b", "AWS_SECRET_ACCESS_KEY": "c", "PGPASSWORD": "d"}
    assert not set(scrubbed({**os.environ, **secrets})) & set(secrets)


def test_a_confinement_travels_as_json() -> None:
    confinement = Confinement(memory=5, readable=("/a",), writable=("/b", "/c"), devices=True)
    assert Confinement.from_json(confinement.to_json()) == confinement
    assert json.loads(confinement.to_json())["memory"] == 5
