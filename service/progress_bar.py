"""A calibration's state in one line, and a line of a terminal that is written over."""

import shutil
from typing import TextIO

from certiset.core.resources import Calibration, Progress

_WIDTH = 24
_BEGINNING = Progress(phase="start", step=0, steps=0, fraction=0.0, metrics={})


def progress_line(calibration: Calibration) -> str:
    id, status, error = calibration.id, calibration.status, calibration.error
    if status == "succeeded":
        return f"{id}  succeeded  {calibration.certificate_id}"
    if calibration.finished:
        return f"{id}  {status}" + (f": {error}" if error else "")
    if status == "queued":
        return f"{id}  queued" + (f"  after: {error}" if error else "")
    if calibration.cancel_requested:
        return f"{id}  running, asked to stop"
    return f"{id}  {bar(calibration.progress or _BEGINNING)}"


def bar(progress: Progress) -> str:
    """How far, in which phase, the loss, and how much of the KL budget is spent."""
    fraction = min(max(progress.fraction, 0.0), 1.0)
    full = round(_WIDTH * fraction)
    drawn = "[" + "#" * full + "." * (_WIDTH - full) + "]"
    return f"{drawn} {100 * fraction:3.0f} %  {_details(progress)}".rstrip()


class LiveLine:
    """On a terminal one line that changes; elsewhere a line each time that its topic does."""

    def __init__(self, stream: TextIO) -> None:
        self._stream, self._live = stream, stream.isatty()
        self._topic: str | None = None

    def show(self, text: str, topic: str) -> None:
        if self._live:
            room = shutil.get_terminal_size().columns - 1
            self._stream.write(f"\r\x1b[2K{text[:room]}")
        elif topic != self._topic:
            self._stream.write(f"{text}\n")
        self._topic = topic
        self._stream.flush()

    def end(self, text: str | None = None) -> None:
        """Leaves the last state, or this text, where it stands."""
        if self._live and self._topic is not None:
            self._stream.write("\n" if text is None else "\r\x1b[2K")
        if text is not None:
            self._stream.write(f"{text}\n")
        self._topic = None
        self._stream.flush()


def _details(progress: Progress) -> str:
    loss, kl, budget = (progress.metrics.get(name) for name in ("loss", "kl", "budget"))
    parts = [progress.phase]
    if progress.steps:
        parts.append(f"step {progress.step}/{progress.steps}")
    if loss is not None:
        parts.append(f"loss {loss:.4g}")
    if kl is not None and budget is not None:
        parts.append(f"KL {kl:.3g} of {budget:.3g} nats")
    return "  ".join(parts)
