"""What the demo prints: progress bars, sentences, a table."""

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TextIO
from urllib.parse import quote

from certiset.core.certificate.rounding import at_most
from certiset.service.client import Certificate, Prediction, Progress
from certiset.service.demo.workflow import DemoResult, Fit
from certiset.service.progress_bar import LiveLine, bar

_COLUMNS = ("problem", "method", "members", "promised coverage", "measured", "mean size", "certified size")


class Console:
    def __init__(self, stream: TextIO = sys.stdout) -> None:
        self._stream = stream
        self._line = LiveLine(stream)

    def say(self, text: str = "") -> None:
        print(text, file=self._stream, flush=True)

    def methods(self, words: Mapping[str, str]) -> None:
        for name, meaning in words.items():
            self.say(f"  {name:<10} {meaning}")
        self.say()

    def bar_of(self, fit: Fit) -> Callable[[Progress], None]:
        name = f"{fit.problem.name:<7} {fit.method:<10}"
        if not fit.calibration.finished:
            self._line.show(f"{name} queued", f"{name} queued")

        def show(progress: Progress) -> None:
            self._line.show(f"{name} {bar(progress)}", f"{name} {progress.phase}")

        return show

    def certified(self, fit: Fit, certificate: Certificate, was_there: bool) -> None:
        before = ", already fitted" if was_there else ""
        self._line.end(f"{fit.problem.name:<7} {fit.method:<10} {certificate.id}{before}")

    def statement(self, fit: Fit, certificate: Certificate) -> None:
        self.say(f"{fit.problem.title}, {fit.method}: {certificate.statement}")
        if certificate.selection is not None:
            self.say(f"  {certificate.selection.reason}")

    def asked(self, query: str, prediction: Prediction) -> None:
        self.say(f"GET /predict_set?predictor={prediction.predictor}&x={query}\n  {prediction.set.text}")

    def table(self, results: Sequence[DemoResult]) -> None:
        self.say(table_text(results))

    def dashboard(self, url: str, key: str | None) -> None:
        self.say(f"See it all in the dashboard: {url}/" + (f"#key={quote(key, safe='')}" if key else ""))


def table_text(results: Sequence[DemoResult]) -> str:
    lines = [_COLUMNS, *[_cells(result) for result in results]]
    widths = [max(len(line[column]) for line in lines) for column in range(len(_COLUMNS))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )


def _cells(result: DemoResult) -> tuple[str, ...]:
    certified = "none" if result.certified_size is None else f"at most {at_most(result.certified_size)}"
    return (
        result.problem,
        result.method,
        _members(result),
        f"{100 * result.promised_coverage:g} % with confidence {100 * result.confidence:g} %",
        f"{100 * result.measured_coverage:.1f} ± {200 * result.standard_error:.1f} %",
        f"{result.mean_size:.3f} {result.measure}",
        certified,
    )


def _members(result: DemoResult) -> str:
    if result.kl == 0 or result.kl_budget is None:
        return str(result.members)
    return f"{result.members} (KL {result.kl:.1f} of {result.kl_budget:.1f} nats)"
