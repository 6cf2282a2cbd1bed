"""What the demo says: bars, sentences, a table."""

import sys
from collections.abc import Callable, Sequence
from typing import TextIO
from urllib.parse import quote

from service.client import Certificate, Prediction, Progress
from service.commands.predict import set_text
from service.demo.running import Fit, Row
from service.progress_bar import LiveLine, bar

_COLUMNS = ("problem", "method", "promised coverage", "measured", "mean size", "certified size")


class Teller:
    def __init__(self, stream: TextIO = sys.stdout) -> None:
        self._stream = stream
        self._line = LiveLine(stream)

    def say(self, text: str = "") -> None:
        print(text, file=self._stream, flush=True)

    def bar_of(self, fit: Fit) -> Callable[[Progress], None]:
        name = f"{fit.problem.name:<7} {fit.method:<10}"
        if not fit.calibration.finished:
            self._line.show(f"{name} queued", f"{name} queued")

        def show(progress: Progress) -> None:
            self._line.show(f"{name} {bar(progress.model_dump())}", f"{name} {progress.phase}")

        return show

    def certified(self, fit: Fit, certificate: Certificate, was_there: bool) -> None:
        before = ", fitted before" if was_there else ""
        self._line.end(f"{fit.problem.name:<7} {fit.method:<10} {certificate.id}{before}")

    def statement(self, fit: Fit, certificate: Certificate) -> None:
        self.say(f"{fit.problem.title}, {fit.method}: {certificate.statement}")
        if fit.method == "pac_bayes" and certificate.coverage.kl == 0:
            self.say("  (No step away from the tuned prior was worth its nats: the certificate spends none.)")

    def asked(self, query: str, answer: Prediction) -> None:
        self.say(f"GET /predict_set?predictor={answer.predictor}&x={query}\n  {set_text(answer.set)}")

    def table(self, rows: Sequence[Row]) -> None:
        self.say(table_text(rows))

    def dashboard(self, url: str, key: str | None) -> None:
        self.say(f"The dashboard, with all of it: {url}/" + (f"#key={quote(key, safe='')}" if key else ""))


def table_text(rows: Sequence[Row]) -> str:
    lines = [_COLUMNS, *[_cells(row) for row in rows]]
    widths = [max(len(line[column]) for line in lines) for column in range(len(_COLUMNS))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )


def _cells(row: Row) -> tuple[str, ...]:
    certified = "none" if row.certified_size is None else f"at most {row.certified_size:.3f}"
    return (
        row.problem,
        row.method,
        f"{100 * row.promised_coverage:g} % with confidence {100 * row.confidence:g} %",
        f"{100 * row.measured_coverage:.1f} ± {200 * row.standard_error:.1f} %",
        f"{row.mean_size:.3f} {row.measure}",
        certified,
    )
