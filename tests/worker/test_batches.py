"""Batches in the hands of workers: killed, late, and with what they wait for deleted."""

import numpy as np
import pyarrow.parquet as pq
import pytest

from certiset.core.data import DatasetArrays
from certiset.core.fit import Predictor, fit
from certiset.core.jobs.deletion import delete_dataset, delete_predictor
from certiset.core.store.records import Dataset
from tests.core.fit.problems import QUICK, toy_data, toy_model
from tests.servers import children_of
from tests.service.server import as_dataset, enter_predictor
from tests.worker.deployment import TENANT, Deployment, kill

MANY = 1_500_000
"""rows that take a worker more than a second"""


@pytest.fixture(scope="module", name="predictor")
def predictor_() -> Predictor:
    return fit(toy_model(), *toy_data(400, 0), **QUICK)


def dataset_of(deployment: Deployment, rows: int, seed: int = 1) -> Dataset:
    x = np.random.default_rng(seed).uniform(-1, 1, (rows, 1)).astype(np.float32)
    with deployment.store.writing() as work:
        return work.datasets.add(as_dataset(deployment.store, TENANT, DatasetArrays.checked(x, None)))


def test_a_killed_worker_loses_nothing_and_what_was_deleted_fails_clearly(
    deployment: Deployment, predictor: Predictor
) -> None:
    enter_predictor(deployment.store, predictor, TENANT)
    id = predictor.certificate.predictor_id
    many, gone = dataset_of(deployment, MANY), dataset_of(deployment, 50, seed=2)
    without_rows = deployment.submit_batch(id, gone)
    delete_dataset(deployment.store, TENANT, gone.id)
    killed = deployment.submit_batch(id, many)
    worker = deployment.start_worker()
    deployment.wait_until_fitting(killed)
    assert deployment.state(killed).artifact is None
    kill(worker.pid, *children_of(worker.pid))
    worker.wait()
    deployment.workers.remove(worker)
    deployment.start_worker()

    ended = deployment.wait(without_rows)
    assert (ended.status, ended.attempts) == ("failed", 1)
    assert ended.error == f"The dataset {gone.id} was deleted before the batch was done."
    done = deployment.wait(killed)
    assert (done.status, done.attempts, done.error) == ("succeeded", 2, None)
    assert done.artifact is not None
    file = deployment.store.artifacts.local_file(done.artifact)
    assert file is not None
    assert (file.stat().st_size, pq.read_metadata(file).num_rows) == (done.stored_bytes, MANY)

    # Deleted while it runs: what is no longer served is in no file, either.
    late = deployment.submit_batch(id, many)
    deployment.wait_until_fitting(late)
    delete_predictor(deployment.store, TENANT, id)
    ended = deployment.wait(late)
    assert (ended.status, ended.artifact) == ("failed", None)
    assert ended.error == f"The predictor {id} was deleted before the batch was done."
    with deployment.store.reading() as work:
        assert work.tenants.usage(TENANT).running_jobs == 0


def test_a_batch_that_takes_too_long_fails_for_good(deployment: Deployment, predictor: Predictor) -> None:
    enter_predictor(deployment.store, predictor, TENANT)
    deployment.start_worker(certiset_fit_seconds=0.3)
    ended = deployment.wait(deployment.submit_batch(predictor.certificate.predictor_id, dataset_of(deployment, MANY)))
    assert (ended.status, ended.attempts) == ("failed", 1)
    assert ended.error is not None
    assert ended.error.startswith("The batch took longer than the time limit of 0.3 seconds: divide the data set")
