"""Whoever waits for a fit at a terminal or in a notebook sees how far it is; nobody else reads a word of it."""

import inspect
import io
import os
import pty
import sys
import threading
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any, TextIO

import pytest

import certiset
from certiset import fit_progress
from certiset.core.errors import OptionError
from certiset.core.fit import fit as fit_silently
from tests.core.fit.problems import QUICK, class_data, class_model


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fit_progress, "_PATIENCE", 0.0)
    monkeypatch.setattr(fit_progress, "_PAUSE", 0.0)


def fitted(**further: Any) -> None:
    x, y = class_data(400, 0)
    options: dict[str, Any] = {**QUICK, **further}
    certiset.fit(class_model(), x, y, method="learned", **options)


def heard(ends: Callable[[], tuple[int, int]], monkeypatch: pytest.MonkeyPatch, **further: Any) -> str:
    """What a fit writes to a standard error that is one end of these."""
    reading, writing = ends()
    found: list[bytes] = []

    def read() -> None:
        try:
            while part := os.read(reading, 4096):
                found.append(part)
        except OSError:
            return  # A pseudo-terminal ends so.

    listener = threading.Thread(target=read)
    listener.start()
    with os.fdopen(writing, "w") as stream:
        monkeypatch.setattr(sys, "stderr", stream)
        fitted(**further)
        monkeypatch.undo()
    listener.join(timeout=10)
    os.close(reading)
    return b"".join(found).decode()


def test_a_terminal_shows_a_bar_that_is_gone_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    text = heard(pty.openpty, monkeypatch)
    assert "tune" in text
    assert "100 %" in text
    assert text.endswith("\r\x1b[2K")
    assert "\n" not in text


def test_a_pipe_hears_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert heard(os.pipe, monkeypatch) == ""


def test_a_terminal_hears_nothing_without_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    assert heard(pty.openpty, monkeypatch, progress=False) == ""


def test_a_notebook_shows_a_bar_without_escape_sequences(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("IPython")
    module.get_ipython = lambda: SimpleNamespace(kernel=object())  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", module)
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    fitted()
    text = stream.getvalue()
    assert "tune" in text
    assert "\x1b" not in text
    assert text.split("\r")[-2].strip() == ""


def test_python_in_a_terminal_by_ipython_is_no_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("IPython")
    module.get_ipython = SimpleNamespace  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", module)
    assert not fit_progress.in_notebook()


def test_a_function_is_told_instead(monkeypatch: pytest.MonkeyPatch) -> None:
    reports: list[dict[str, Any]] = []
    assert heard(pty.openpty, monkeypatch, progress=reports.append) == ""
    assert reports[-1]["fraction"] == 1.0


def test_anything_else_is_refused_in_a_sentence() -> None:
    with pytest.raises(OptionError, match="progress must be True, False or a function"):
        fitted(progress="bar")


class Broken(io.StringIO):
    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        raise OSError(text)


@pytest.mark.parametrize("stream", [Broken(), None], ids=["broken", "none"])
def test_a_fit_goes_on_without_its_standard_error(stream: TextIO | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", stream)
    fitted()


def test_a_short_fit_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fit_progress, "_PATIENCE", 60.0)
    stream = Broken()
    bar = fit_progress.Bar(stream, terminal=True)
    bar({"phase": "tune", "step": 1, "steps": 2, "fraction": 0.5, "metrics": {}})
    bar.end()
    assert stream.getvalue() == ""


def test_both_fits_take_the_same_arguments() -> None:
    """That of `core`, which prints nothing, and the one that shows a bar."""
    loud, silent = (inspect.signature(one).parameters for one in (certiset.fit, fit_silently))
    assert list(loud) == list(silent)
    assert {name: one.default for name, one in loud.items()} == {name: one.default for name, one in silent.items()}
