"""The fitting process: takes jobs from its standard input one after the other, and ends when its worker does.

It is a separate process, so that a crash, running out of memory or a hang affects it and not the worker. It is spawned,
not forked, because CUDA and OpenMP do not survive a fork. It never accesses the database.
"""

import contextlib
import json
import os
import sys
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, BinaryIO

from certiset.core.errors import CertisetError, StoppedError, StoreError, first_line
from certiset.core.graphs import GraphBlockedError, GraphDiedError
from certiset.core.store.predictors import FitResult
from certiset.worker.protocol import BatchAnswer, BatchJob, Failure, FitJob, Job, line

if TYPE_CHECKING:
    from certiset.core.graphs import GraphHost

REPORT_SECONDS = 0.2
"""at most five reports per second"""
REPORTS_OF_A_FIT = 300
"""about as many as a figure can show: a long fit reports less often, in proportion to its running time"""


def main() -> None:
    answers = _own_output()
    _be_killed_first()
    jobs: SimpleQueue[Job] = SimpleQueue()
    stopped: set[str] = set()
    threading.Thread(target=_listen, args=(jobs, stopped), daemon=True).start()
    # Loaded before the first job arrives, while nobody is waiting.
    import certiset.core.fit.fitting  # noqa: F401, PLC0415

    while True:
        answers.write(_answer(jobs.get(), answers, stopped))


def _answer(job: Job, answers: BinaryIO, stopped: set[str]) -> bytes:
    what = "batch" if isinstance(job, BatchJob) else "fit"
    try:
        return line("done", run(job, answers, lambda: job.attempt in stopped))
    except StoppedError:
        return line("stopped", True)
    except CertisetError as error:
        return line("failed", Failure(str(error), final=not _may_succeed_later(error)))
    except MemoryError:
        return line("failed", Failure(f"The {what} ran out of memory.", final=False))
    except Exception as error:
        traceback.print_exc()
        reason = f"The {what} failed with an unexpected error, {type(error).__name__}: {first_line(error)}"
        return line("failed", Failure(reason, final=False))


def _may_succeed_later(error: CertisetError) -> bool:
    """A store may be back; rows that have ended a graph's process would end the next one as well."""
    return isinstance(error, StoreError) and not isinstance(error, GraphDiedError | GraphBlockedError)


def run(job: Job, answers: BinaryIO, should_stop: Callable[[], bool]) -> FitResult | BatchAnswer:
    from certiset.core.graphs import GraphHost, GraphLimits  # noqa: PLC0415

    graphs = GraphHost(GraphLimits(memory=job.graph_memory, seconds=job.graph_seconds))
    try:
        if isinstance(job, BatchJob):
            from certiset.worker.batch_runner import run_batch  # noqa: PLC0415 (loads PyTorch)

            return run_batch(job, graphs, Reports(answers), should_stop)
        return _run_fit(job, graphs, answers, should_stop)
    finally:
        graphs.close()


def _run_fit(job: FitJob, graphs: "GraphHost", answers: BinaryIO, should_stop: Callable[[], bool]) -> FitResult:
    from safetensors.torch import load  # noqa: PLC0415

    from certiset.core.data import DatasetArrays  # noqa: PLC0415
    from certiset.core.data.row_sketch import RowSketch  # noqa: PLC0415
    from certiset.core.fit import fit  # noqa: PLC0415
    from certiset.core.jobs.fit_results import fit_result  # noqa: PLC0415
    from certiset.core.models import Model  # noqa: PLC0415
    from certiset.core.store.artifacts import Artifacts  # noqa: PLC0415

    artifacts = Artifacts(job.artifacts_url)
    data = DatasetArrays.from_bytes(artifacts.get(job.dataset_artifact))
    target = None if job.target_artifact is None else DatasetArrays.from_bytes(artifacts.get(job.target_artifact)).frame
    key = artifacts.get(job.row_key)
    progress = Reports(answers, begin=lambda: RowSketch.of(key, data.x, data.y).to_json())
    options = {"device": job.device, **{k: v for k, v in job.options.items() if (k, v) != ("device", "auto")}}
    model = Model.from_manifest(job.manifest, load(artifacts.get(job.model_artifact)), graphs=graphs)
    predictor = fit(
        model, data.frame, data.truths, target=target, progress=progress, should_stop=should_stop, **options
    )
    if should_stop():
        raise StoppedError("The fit was asked to stop.")
    return fit_result(predictor, artifacts)


class Reports:
    """Passes on the reports of a job, often at first and then less and less often.

    Before the first one of a fit, when everything is checked and nothing computed, it says on which rows that begins.
    """

    def __init__(self, answers: BinaryIO, begin: Callable[[], dict[str, Any]] | None = None) -> None:
        self._answers, self._rows, self._begin, self._next = answers, begin, time.monotonic(), 0.0

    def __call__(self, report: dict[str, Any]) -> None:
        now = time.monotonic()
        if self._next == 0.0 and self._rows is not None:
            self._answers.write(line("rows", self._rows()))
        if now >= self._next:
            self._next = now + max(REPORT_SECONDS, (now - self._begin) / REPORTS_OF_A_FIT)
            self._answers.write(line("progress", _finite(report)))


def _finite(report: dict[str, Any]) -> dict[str, Any]:
    """Replaces numbers that JSON does not have: a loss may be infinite for a while."""
    metrics = {k: float(v) if abs(float(v)) < float("inf") else None for k, v in report["metrics"].items()}
    return {**report, "metrics": metrics}


def _listen(jobs: "SimpleQueue[Job]", stopped: set[str]) -> None:
    for text in sys.stdin.buffer:
        message = json.loads(text)
        if "fit" in message:
            jobs.put(FitJob(**message["fit"]))
        if "batch" in message:
            jobs.put(BatchJob(**message["batch"]))
        if "stop" in message:
            stopped.add(message["stop"])
    # The worker is gone, and so is its lease: another worker may already have the job.
    os._exit(0)


def _own_output() -> BinaryIO:
    """The pipe to the worker; what libraries print goes to standard error, where it cannot corrupt an answer."""
    pipe = os.fdopen(os.dup(sys.stdout.fileno()), "wb", buffering=0)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return pipe


def _be_killed_first() -> None:
    """When memory runs out the kernel should take this process, not the worker."""
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")


if __name__ == "__main__":
    main()
