"""A server that two tenants share, each with a predictor of its own; and a tenant whose predictors are by groups."""

from collections.abc import Iterator

import httpx
import pytest

from certiset.core.fit import Predictor, fit
from certiset.core.store import Store
from certiset.service.http.access.keys import KeyRing
from certiset.service.http.access.secret import derive, read_secret
from tests.core.fit.problems import QUICK, class_data, class_model
from tests.service.http.group_rows import fit_by_groups
from tests.service.server import Server, enter_predictor, start_server


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    made = start_server(tmp_path_factory.mktemp("shares"), rate_limit=0)
    store = Store.ready(made.settings)
    made.predictors["of eve"] = fit(class_model(), *class_data(300, 5), **QUICK)
    enter_predictor(store, made.predictors["of eve"], "eve")
    store.close()
    yield made
    made.stop()


@pytest.fixture(scope="session")
def grouped() -> dict[str, Predictor]:
    return fit_by_groups()


@pytest.fixture(scope="session")
def gina_key(server: Server, grouped: dict[str, Predictor]) -> str:
    """Of the tenant who has these predictors."""
    store = Store(server.settings)
    ring = KeyRing(store, derive(read_secret(server.settings.secret), "api keys"))
    key = ring.create(tenant="gina", name="gina", scopes=["read", "write"])[1]
    for predictor in grouped.values():
        enter_predictor(store, predictor, "gina")
    store.close()
    return str(key)


@pytest.fixture
def gina(server: Server, gina_key: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server.url, headers={"Authorization": f"Bearer {gina_key}"}, timeout=60) as client:
        yield client
