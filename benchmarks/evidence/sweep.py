"""Many runs of one experiment: side by side, with a bar, and none of them twice if it was interrupted."""

import hashlib
import json
import multiprocessing
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import torch

import benchmarks.evidence
import certiset.core.bounds
import certiset.core.data
import certiset.core.fit
import certiset.core.posterior
import certiset.core.scores
from certiset.service.progress_bar import LiveLine

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Cell = dict[str, Any]
"""what tells one run from the others, as JSON"""
Entry = dict[str, Any]
"""what is kept of a cell: its runs, the CPU seconds that they took, and a digest of the code; or, instead of that, the
version from whose result the runs were taken"""
Work = Callable[[Cell, Path], Sequence["DataclassInstance"]]
"""of a cell and the folder in which data are kept; a function of a module, so that another process can find it"""

_BAR = 30
_CODE = (
    benchmarks.evidence,
    certiset.core.bounds,
    certiset.core.data,
    certiset.core.fit,
    certiset.core.posterior,
    certiset.core.scores,
)


@dataclass(frozen=True)
class Swept:
    runs: list[dict[str, Any]]
    """in the order of the cells: the cell and what was measured, one for each method of each cell"""
    cpu_seconds: float
    """of all cells, whenever they were run"""
    missing: dict[str, int] = field(default_factory=dict)
    """how many cells of which part have not been run, where only finished ones were asked for"""


def sweep(name: str, cells: Sequence[Cell], work: Work, kept: Path, jobs: int, stream: TextIO = sys.stderr) -> Swept:
    """Runs all cells that were not run before.

    What is done is kept line by line in ``kept``; a sweep that was interrupted goes on from there. Lines of other cells
    and a last line that was cut off are ignored.
    """
    kept.mkdir(parents=True, exist_ok=True)
    file, code = kept / f"{name}.jsonl", code_digest()
    done = _read(file)
    missing = [cell for cell in cells if _key(cell) not in done]
    line, start = LiveLine(stream), time.monotonic()
    _say_what_was_there(file, [done[_key(cell)] for cell in cells if _key(cell) in done], len(cells), code, stream)
    with file.open("a", encoding="utf-8") as log:
        if file.stat().st_size and not file.read_bytes().endswith(b"\n"):
            log.write("\n")  # a line that was cut off must not spoil the next
        for place, (cell, result) in enumerate(_results(work, missing, kept, jobs), start=1):
            entry = done[_key(cell)] = {"cell": cell, "code": code, **result}
            log.write(json.dumps(entry) + "\n")
            log.flush()
            os.fsync(log.fileno())
            line.show(_bar(name, place, len(missing), time.monotonic() - start, cell), str(place))
    line.end()
    return _swept([done[_key(cell)] for cell in cells], {})


def _origin(entry: Entry) -> dict[str, str]:
    return {"kept_from": entry["kept_from"]} if "kept_from" in entry else {}


def finished(name: str, cells: Sequence[Cell], kept: Path) -> Swept:
    """What was run before, without running anything."""
    done = _read(kept / f"{name}.jsonl")
    missing = Counter(str(cell.get("part", cell.get("family"))) for cell in cells if _key(cell) not in done)
    return _swept([done[_key(cell)] for cell in cells if _key(cell) in done], dict(missing))


def _swept(entries: Sequence[Entry], missing: dict[str, int]) -> Swept:
    runs = [{**entry["cell"], **run, **_origin(entry)} for entry in entries for run in entry["runs"]]
    return Swept(runs, sum(entry["cpu_seconds"] for entry in entries), missing)


def code_digest() -> str:
    """Of the code on which the runs depend."""
    digest = hashlib.sha256()
    for folder in _CODE:
        for file in sorted(Path(folder.__path__[0]).rglob("*.py")):
            digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def _say_what_was_there(file: Path, entries: Sequence[Entry], cells: int, code: str, stream: TextIO) -> None:
    if entries:
        print(f"{file.stem}: {len(entries)} of {cells} runs were done before.", file=stream, flush=True)
    others = sum(entry.get("code", code) != code for entry in entries)
    if others:
        print(f"{others} of them by other code than this: remove {file} to run them again.", file=stream, flush=True)


def _results(work: Work, cells: Sequence[Cell], kept: Path, jobs: int) -> Iterator[tuple[Cell, Entry]]:
    if jobs <= 1 or len(cells) <= 1:
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            yield from ((cell, _run(work, cell, kept)) for cell in cells)
        finally:
            torch.set_num_threads(threads)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=context, initializer=torch.set_num_threads, initargs=(1,)) as pool:
        waiting: dict[Future[Entry], Cell] = {pool.submit(_run, work, cell, kept): cell for cell in cells}
        try:
            for future in as_completed(waiting):
                yield waiting[future], future.result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _run(work: Work, cell: Cell, kept: Path) -> Entry:
    start = os.times()
    runs = [asdict(measured) for measured in work(cell, kept)]
    # Of this process and of those that it started and waited for.
    return {"runs": runs, "cpu_seconds": sum(os.times()[:4]) - sum(start[:4])}


def _read(file: Path) -> dict[str, Entry]:
    done = {}
    for text in file.read_text(encoding="utf-8").splitlines() if file.exists() else []:
        try:
            entry = json.loads(text)
            entry["cpu_seconds"] = float(entry["cpu_seconds"])
            done[_key(entry["cell"])] = entry | {"runs": list(entry["runs"])}
        except (ValueError, KeyError, TypeError):
            continue
    return done


def _key(cell: Cell) -> str:
    return hashlib.sha256(json.dumps(cell, sort_keys=True).encode()).hexdigest()


def _bar(name: str, done: int, all_: int, seconds: float, cell: Cell) -> str:
    full = _BAR * done // max(all_, 1)
    left = seconds / done * (all_ - done)
    what = ", ".join(f"{key} {value}" for key, value in cell.items() if not isinstance(value, dict | list))
    return f"{name} [{'#' * full}{'.' * (_BAR - full)}] {done}/{all_}, {_minutes(left)} left, last: {what}"


def _minutes(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
