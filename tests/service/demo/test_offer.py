"""On its first start `certiset up` offers the demo: a question on a terminal, a line elsewhere, nothing if told so."""

import os
import pty
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.servers import children_of, free_port, wait_until

QUESTION = "Run the demo now?"


class Terminal:
    """`certiset up` on its own terminal."""

    def __init__(self, home: Path, *arguments: str) -> None:
        known = {name: value for name, value in os.environ.items() if not name.startswith("CERTISET_")}
        command = [sys.executable, "-m", "certiset", "up", "--home", str(home), "--port", str(free_port()), *arguments]
        self._master, slave = pty.openpty()
        self.process = subprocess.Popen(command, env=known, stdin=slave, stdout=slave, stderr=slave)
        os.close(slave)
        self.text = ""

    def read_until(self, words: str, seconds: float = 180) -> None:
        deadline = time.monotonic() + seconds
        while words not in self.text:
            assert time.monotonic() < deadline, self.text
            if select.select([self._master], [], [], 0.2)[0]:
                self.text += os.read(self._master, 2**16).decode()

    def type(self, words: str) -> None:
        os.write(self._master, words.encode())

    def stop(self) -> None:
        self.process.send_signal(signal.SIGINT)
        assert self.process.wait(60) == 0, self.text
        os.close(self._master)


def test_no_is_taken_for_an_answer_and_the_second_start_does_not_ask(tmp_path: Path) -> None:
    first = Terminal(tmp_path)
    first.read_until(QUESTION)
    first.type("n\n")
    first.read_until(f"Later: certiset demo --home {tmp_path} --port ")
    assert len(children_of(first.process.pid)) == 2
    first.stop()
    second = Terminal(tmp_path)
    second.read_until("Ctrl-C stops it.")
    wait_until(lambda: len(children_of(second.process.pid)) == 2, 180, "both")
    assert QUESTION not in second.text
    second.stop()


def test_yes_runs_the_demo_beside_the_service(tmp_path: Path) -> None:
    up = Terminal(tmp_path)
    up.read_until(QUESTION)
    up.type("y\n")
    up.read_until("The service keeps running.", 300)
    assert "promised coverage" in up.text
    assert f"/#key={(tmp_path / 'key').read_text().strip()}" in up.text
    assert len(children_of(up.process.pid)) == 2
    up.stop()


@pytest.mark.parametrize("arguments", [[], ["--no-demo"]])
def test_elsewhere_than_on_a_terminal_a_line_tells_how(tmp_path: Path, arguments: list[str]) -> None:
    command = [sys.executable, "-m", "certiset", "up", "--home", str(tmp_path), "--port", str(free_port()), *arguments]
    up = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    wait_until(lambda: len(children_of(up.pid)) == 2, 180, "both")
    up.send_signal(signal.SIGTERM)
    text, _ = up.communicate(timeout=60)
    assert QUESTION not in text
    assert ("To see it work, in another terminal: certiset demo" in text) == (not arguments)


def test_no_demo_never_asks(tmp_path: Path) -> None:
    up = Terminal(tmp_path, "--no-demo")
    up.read_until("Ctrl-C stops it.")
    wait_until(lambda: len(children_of(up.process.pid)) == 2, 180, "both")
    up.stop()
    assert QUESTION not in up.text
