"""The demo as a process beside API and worker, started at once or after asking."""

import os
import select
import subprocess
import sys
import time

from certiset.core.settings import PREFIX, Settings
from certiset.service.processes import end

_WAIT_SECONDS = 120
"""for which the demo waits until the server is ready"""


class DemoProcess:
    """Runs once; when it has ended, everything else either stops, too, or keeps running."""

    def __init__(self, url: str, key: str, arguments: list[str], *, ends_all: bool) -> None:
        self._ends_all = ends_all
        self.cut_off = False
        """whether it was stopped before it was done"""
        self._process: subprocess.Popen[bytes] | None = subprocess.Popen(
            [
                sys.executable,
                "-P",
                "-m",
                "certiset",
                "demo",
                "--url",
                url,
                f"--wait-seconds={_WAIT_SECONDS}",
                *arguments,
            ],
            env={**os.environ, f"{PREFIX}KEY": key},
        )

    def step(self, seconds: float) -> int | None:
        time.sleep(seconds)
        if self._process is None or self._process.poll() is None:
            return None
        code, self._process = self._process.returncode, None
        if self._ends_all:
            return code
        if code:
            print("The demo failed; the service keeps running.", file=sys.stderr, flush=True)
        else:
            print("The service keeps running. Ctrl-C stops it; all data are kept.", flush=True)
        return None

    def close(self) -> None:
        if self._process is not None:
            self.cut_off = self._process.poll() is None
            end(self._process)
            self._process = None


class DemoOffer:
    """Asks on the terminal whether to run the demo, and lets the service run while nobody answers."""

    def __init__(self, settings: Settings, url: str) -> None:
        self._settings, self._url = settings, url
        self._demo: DemoProcess | None = None
        self._asked = self._answered = False

    def step(self, seconds: float) -> int | None:
        if self._demo is not None:
            return self._demo.step(seconds)
        if not self._asked:
            print("Run the demo now? It trains, calibrates and serves two models in a minute or two. [y/N] ", end="")
            sys.stdout.flush()
            self._asked = True
        if self._answered:
            time.sleep(seconds)
        elif select.select([sys.stdin], [], [], seconds)[0]:
            self._answered = True
            if sys.stdin.readline().strip().lower() in ("y", "yes"):
                key = (self._settings.home / "key").read_text().strip()
                self._demo = DemoProcess(self._url, key, [], ends_all=False)
            else:
                print(f"Later: {demo_command(self._settings, self._url)}", flush=True)
        return None

    def close(self) -> None:
        if self._demo is not None:
            self._demo.close()


def demo_command(settings: Settings, url: str) -> str:
    """How to run the demo against this server, from another terminal."""
    port = url.rsplit(":", 1)[1]
    home = "" if settings.home == Settings().home else f" --home {settings.home}"
    return f"certiset demo{home}" + ("" if port == "8000" else f" --port {port}")
