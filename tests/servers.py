"""Real servers for tests: the machine's own where any will do, private ones where a test stops or floods them.

In CI a server that is missing is a failure; on a user's machine it is a skip with a reason.
"""

import contextlib
import http.client
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn

import psycopg
import pytest
import redis

from tests.forks import COPY

POSTGRES = os.environ.get("CERTISET_TEST_POSTGRES_URL", "postgresql://postgres@127.0.0.1:5432/postgres")
REDIS = os.environ.get("CERTISET_TEST_REDIS_URL", "redis://127.0.0.1:6379")


def missing(reason: str) -> NoReturn:
    if "CI" in os.environ:
        pytest.fail(f"{reason} In CI that is a failure.")
    pytest.skip(reason)


@contextlib.contextmanager
def postgres_database(template: str | None = None) -> Iterator[str]:
    """The URL of a new database: empty, or a copy of the one of that name."""
    try:
        connection = psycopg.connect(POSTGRES, autocommit=True, connect_timeout=3)
    except psycopg.OperationalError as error:
        missing(f"No PostgreSQL at {POSTGRES} (CERTISET_TEST_POSTGRES_URL): {str(error).splitlines()[0]}.")
    name = f"certiset_test_{uuid.uuid4().hex[:12]}"
    with connection:
        connection.execute(f"create database {name}" + (f" template {template}" if template else ""))
    try:
        yield POSTGRES.rsplit("/", 1)[0] + f"/{name}"
    finally:
        with psycopg.connect(POSTGRES, autocommit=True) as again:
            again.execute(f"drop database {name} with (force)")


class PrivateRedis:
    """A Redis of one test's own, which keeps nothing on disk: a restart loses everything."""

    def __init__(self) -> None:
        program = shutil.which("redis-server")
        if program is None:
            missing("The program redis-server is not installed.")
        self._program, self.port = program, free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self.url = f"redis://127.0.0.1:{self.port}/0"

    @classmethod
    @contextlib.contextmanager
    def running(cls) -> Iterator["PrivateRedis"]:
        server = cls()
        server.start()
        try:
            yield server
        finally:
            server.stop()

    def start(self) -> None:
        options = ["--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
        self._process = subprocess.Popen([self._program, *options], stdout=subprocess.DEVNULL)
        client = redis.Redis.from_url(self.url)
        wait_until(lambda: _answers(client), 20, "Redis to start")
        client.close()

    def pause(self) -> None:
        """Connections stay open, and nothing is answered."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


class PrivatePostgres:
    """A PostgreSQL cluster of one test's own. PostgreSQL refuses to run as root, who therefore lends it an account."""

    def __init__(self) -> None:
        programs = sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"))
        found = shutil.which("pg_ctl") or (str(programs[-1]) if programs else None)
        if found is None:
            missing("The program pg_ctl is not installed.")
        self._programs, self.port = Path(found).parent, free_port()
        self._user = "postgres" if os.geteuid() == 0 else None
        # Not below pytest's folder, which nobody but its owner may enter.
        self._data = Path(tempfile.mkdtemp(prefix="certiset-postgres-"))
        if self._user:
            shutil.chown(self._data, self._user)
        self._run("initdb", "--auth=trust", "--username=postgres", "--no-sync", "-D", str(self._data))
        self.url = f"postgresql://postgres@127.0.0.1:{self.port}/postgres"

    @classmethod
    @contextlib.contextmanager
    def running(cls) -> Iterator["PrivatePostgres"]:
        server = cls()
        server.start()
        try:
            yield server
        finally:
            with contextlib.suppress(OSError):
                server.resume()
            server.remove()

    def start(self) -> None:
        options = f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories='' -c fsync=off"
        self._run("pg_ctl", "-D", str(self._data), "-w", "-o", options, "-l", str(self._data / "log"), "start")

    def stop(self) -> None:
        self._run("pg_ctl", "-D", str(self._data), "-w", "-m", "immediate", "stop")

    def set(self, name: str, value: str) -> None:
        """For all sessions, those that are open included."""
        with psycopg.connect(self.url, autocommit=True, options="-c default_transaction_read_only=off") as operator:
            operator.execute(f"alter system set {name} = {value}")
            operator.execute("select pg_reload_conf()")
        wait_until(lambda: self._value(name) == value, 10, f"{name} to be {value}")

    def _value(self, name: str) -> str:
        with psycopg.connect(self.url) as operator:
            found = operator.execute(f"show {name}").fetchone()
        assert found is not None
        return str(found[0])

    def pause(self) -> None:
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        self._signal(signal.SIGCONT)

    def _signal(self, number: int) -> None:
        """To the server and all its backends."""
        postmaster = int((self._data / "postmaster.pid").read_text().split()[0])
        for pid in (postmaster, *children_of(postmaster)):
            os.kill(pid, number)

    def remove(self) -> None:
        self.stop()
        shutil.rmtree(self._data)

    def _run(self, program: str, *arguments: str) -> None:
        command = [str(self._programs / program), *arguments]
        done = subprocess.run(
            command, user=self._user, cwd="/", stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False
        )
        assert done.returncode == 0, done.stderr.decode()


@contextlib.contextmanager
def most_memory(pid: int) -> Iterator[list[int]]:
    """The list holds the bytes by which a process grew at most while the block ran, files that it maps not counted."""

    def held() -> int:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        return next(1024 * int(line.split()[1]) for line in lines if line.startswith("RssAnon:"))

    if not Path("/proc/self/status").exists():
        missing("There is no /proc here.")
    before, most, done = held(), [0], threading.Event()

    def watch() -> None:
        with contextlib.suppress(OSError, StopIteration):
            while not done.is_set():
                most[0] = max(most[0], held() - before)
                time.sleep(0.002)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield most
    finally:
        done.set()
        watcher.join()


def children_of(pid: int) -> list[int]:
    """The processes that it has started; those that a copy of it has forked for it are among them."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                name, _, rest = (entry / "stat").read_text().partition("(")[2].rpartition(")")
                if int(rest.split()[1]) == pid:
                    found += children_of(int(entry.name)) if name == COPY else [int(entry.name)]
    return found


def name_of(pid: int) -> str:
    """What the process is called, such as fit_runner; empty if it is gone."""
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def answers(url: str) -> bool:
    """Whether a server of certiset's is up; for asking again and again, which httpx makes expensive."""
    address = url.removeprefix("http://").partition("/")[0]
    connection = http.client.HTTPConnection(address, timeout=5)
    try:
        connection.request("GET", "/healthz")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def wait_until(condition: Callable[[], object], seconds: float, what: str) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"waited {seconds:g} s in vain for {what}"
        time.sleep(0.05)


def _answers(client: "redis.Redis") -> bool:
    try:
        return bool(client.ping())
    except redis.ConnectionError:
        return False
