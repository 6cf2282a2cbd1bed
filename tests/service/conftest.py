from collections.abc import Iterator

import httpx
import pytest

from tests.service.server import Server, start_server


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
