"""A server that two tenants share, each with a predictor of its own."""

from collections.abc import Iterator

import pytest

from certiset.core.fit import fit
from certiset.core.store import Store
from tests.core.fit.problems import QUICK, class_data, class_model
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
