"""A reader at a terminal: types a page's commands one after the other, in one shell and one folder."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.servers import answers, free_port, wait_until
from tests.system.docs.pages import Block

ROOT = Path(__file__).parents[3]
_SERVER = re.compile(r"(?:make up|(?:\.venv/bin/)?certiset (up|api|worker)\b[^|&]*?)\s*(?:#.*)?")
_DEVELOPING = re.compile(r"make (check|test|test-slow|bench)\b")
"""CI runs these; inside one of their tests it is enough that make knows what they would do"""
_RESTORING = re.compile(r"pg_restore\b")
_FILES = ("Makefile", "Dockerfile", "docker-compose.yml", "docker-compose.gpu.yml", ".env.example", "deploy")


class Reader:
    """Fills in the port, ids that earlier commands printed (``pred-…``) and what is given; changes nothing else.

    A server is started in the background, as in a second terminal, and stopped when the page starts it again or is
    about to restore a database below it.
    """

    def __init__(self, folder: Path, replaced: Mapping[str, str] | None = None) -> None:
        self.folder, self.port = folder, free_port()
        self._replaced = dict(replaced or {})
        self._ids: dict[str, str] = {}
        self._servers: dict[str, int] = {}
        _furnish(folder)
        programs = f"{folder / 'fakes'}:{Path(sys.executable).parent}:{os.environ['PATH']}"
        # A make that runs the tests would hand its own arguments to the make of a page.
        others = ("CERTISET_", "MAKE", "MFLAGS")
        environment = {name: value for name, value in os.environ.items() if not name.startswith(others)}
        # Fits this small are quickest on one thread, also where other tests run beside them.
        environment |= {"OMP_NUM_THREADS": "1", "CERTISET_THREADS": "1", "ARGS": f"--port {self.port}"}
        self._shell = subprocess.Popen(
            ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail"],
            cwd=folder,
            env={**environment, "PATH": programs, "CERTISET_URL": f"http://127.0.0.1:{self.port}"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def do(self, block: Block) -> None:
        if block.language == "python":
            file = self.folder / f"block_{block.line}.py"
            file.write_text(self._filled(block.text))
            block.check(self.type(f"python {file.name}"))
        else:
            block.check("".join(self._command(line) for line in block.commands))

    def _command(self, line: str) -> str:
        server = _SERVER.fullmatch(line.strip())
        if server:
            self.start(line.partition("#")[0].strip(), server[1] or "up")
            return ""
        if _DEVELOPING.match(line):
            line = line.replace("make", "make --dry-run", 1)
        if _RESTORING.match(line):
            self.stop()
        return self.type(line)

    def type(self, command: str) -> str:
        """What it prints; a command that fails is a failure."""
        output, errors = self.folder / ".output", self.folder / ".errors"
        filled = self._filled(command)
        self._say(f"{{ {filled}\n}} > {output} 2> {errors} < /dev/null\necho done")
        ended = self._hear() == "done"
        assert ended, f"{filled}\n{output.read_text()}\n{errors.read_text()}"
        printed = output.read_text()
        self._ids |= {
            id.split("-")[0]: id for id in re.findall(r"\b(?:ds|mod|cal|pred|cert|key)-[0-9a-z]{8,}", printed)
        }
        return printed

    def start(self, command: str, kind: str) -> None:
        self.stop(kind)
        log = self.folder / f"{kind}.log"
        log.touch()
        # What goes through make finds the port in ARGS.
        port = "" if kind == "worker" or command.startswith("make") else f"--port {self.port}"
        self._say(f"{self._filled(command)} {port} > {log} 2>&1 < /dev/null &\necho $!")
        self._servers[kind] = int(self._hear())
        ready = (lambda: "ready, with" in log.read_text()) if kind == "worker" else self._healthy
        try:
            wait_until(ready, 90, command)
        except AssertionError as error:
            raise AssertionError(f"{error}, which says\n{log.read_text()}") from None

    def stop(self, *kinds: str) -> None:
        for kind in kinds or tuple(self._servers):
            if kind in self._servers:
                pid = self._servers.pop(kind)
                self._say(f"kill {pid} 2> /dev/null || true\nwait {pid} 2> /dev/null || true\necho stopped")
                self._hear()
                if kind != "worker":
                    wait_until(lambda: not self._healthy(), 30, "the server to stop")

    def close(self) -> None:
        if self._shell.poll() is None:
            self.stop()
        self._shell.communicate(timeout=30)

    def _say(self, text: str) -> None:
        assert self._shell.stdin is not None
        self._shell.stdin.write(f"{text}\n")
        self._shell.stdin.flush()

    def _hear(self) -> str:
        assert self._shell.stdout is not None
        return self._shell.stdout.readline().strip()

    def _filled(self, text: str) -> str:
        for shown, meant in {"127.0.0.1:8000": f"127.0.0.1:{self.port}", **self._replaced}.items():
            text = text.replace(shown, meant)
        return re.sub(r"\b(ds|mod|cal|pred|cert|key)-…", lambda match: self._ids[match[1]], text)

    def _healthy(self) -> bool:
        return answers(f"http://127.0.0.1:{self.port}")


def _furnish(folder: Path) -> None:
    """What a checkout has, without its state; and a docker that only knows whether it could do what it is told."""
    for name in _FILES:
        (folder / name).symlink_to(ROOT / name)
    # The environment that the tests run in, which make must take for made and leave alone.
    environment = folder / ".venv"
    environment.mkdir()
    (environment / "bin").symlink_to(Path(sys.executable).parent)
    shutil.copy(ROOT / "pyproject.toml", folder)
    os.utime(folder / "pyproject.toml", (0, 0))
    for stamp in (".installed-runtime", ".installed"):
        (environment / stamp).touch()
    docker = folder / "fakes" / "docker"
    docker.parent.mkdir()
    docker.write_text(f"#!{sys.executable}\nimport sys\nsys.path.insert(0, {str(ROOT)!r})\n")
    with docker.open("a") as script:
        script.write("from tests.system.docs.docker import main\nmain(sys.argv[1:])\n")
    docker.chmod(0o755)
