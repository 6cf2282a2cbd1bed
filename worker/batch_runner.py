"""A batch, as the fitting process computes it: everything is read from the artifact store, and the answer put there."""

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from certiset.core.batch.dataset_sets import write_sets
from certiset.core.certificate import Certificate
from certiset.core.data.stored_rows import map_dataset
from certiset.core.fit.canaries import check_canaries
from certiset.core.fit.predictor import Predictor, make_predictor
from certiset.core.fit.serialization import read_members
from certiset.core.graphs import GraphHost
from certiset.core.scratch import full_disk_refused, scratch_file
from certiset.core.store.artifacts import Artifacts
from certiset.core.store.local_copy import local_copy
from certiset.worker.protocol import BatchAnswer, BatchJob


def run_batch(
    job: BatchJob, graphs: GraphHost, progress: Callable[[dict[str, Any]], object], should_stop: Callable[[], bool]
) -> BatchAnswer:
    """The answer exists under its name once it is whole; what a killed process has written of it is nobody's."""
    artifacts, scratch = Artifacts(job.artifacts_url), Path(job.scratch)
    predictor = _predictor(job, artifacts, graphs)
    chosen = None if job.members_artifact is None else np.frombuffer(artifacts.get(job.members_artifact), dtype="<i4")
    with ExitStack() as held:
        file = held.enter_context(local_copy(artifacts, job.dataset_artifact, scratch))
        answer = held.enter_context(scratch_file(scratch))
        with full_disk_refused():
            write_sets(
                predictor,
                map_dataset(file).frame,
                answer,
                alpha=job.alpha,
                members=job.member if chosen is None else chosen,
                cases=job.cases,
                progress=progress,
                should_stop=should_stop,
            )
        return BatchAnswer(artifacts.put(answer), answer.stat().st_size)


def _predictor(job: BatchJob, artifacts: Artifacts, graphs: GraphHost) -> Predictor:
    certificate = Certificate.from_json(job.certificate)
    source = f"The stored file {job.predictor_artifact}"
    content = artifacts.get(job.predictor_artifact)
    members = read_members(content, job.description, certificate, source=source, graphs=graphs)
    return check_canaries(make_predictor(members, certificate, job.device))
