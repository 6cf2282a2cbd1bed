"""Servers as processes, shared by all tests of a test process: one that serves, and one with a worker that fits."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import numpy as np
import pytest

from certiset.service.client import Client, Dataset, Model
from tests.core.fit.problems import class_data, class_model
from tests.service.server import Server, server_with_worker, start_server


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    made = start_server(
        tmp_path_factory.mktemp("service"), max_upload_bytes=2_000_000, max_predict_bytes=4_000_000, audit_seconds=1.0
    )
    yield made
    made.stop()


@pytest.fixture
def ada(server: Server) -> Iterator[httpx.Client]:
    with server.client() as client:
        yield client


@pytest.fixture(scope="session")
def deployment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with server_with_worker(tmp_path_factory.mktemp("client")) as server:
        yield server


@pytest.fixture
def client(deployment: Server) -> Iterator[Client]:
    with Client(deployment.url, deployment.keys["ada"]) as made:
        yield made


@pytest.fixture(scope="session")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    x, y = class_data(600, 3)
    made = tmp_path_factory.mktemp("files") / "classes.npz"
    np.savez(made, x=x, y=y)
    return made


@pytest.fixture
def inputs(client: Client, file: Path) -> tuple[Dataset, Model]:
    model = class_model()
    weights = {name: tensor.numpy() for name, tensor in model.tensors().items()}
    return client.datasets.upload(file), client.models.upload(model.manifest.to_json(), weights=weights)
