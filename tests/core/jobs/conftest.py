"""Tests of jobs that race in the database run on SQLite and on PostgreSQL, as those of the store do.

What is uploaded is read in confined processes, which are forked.
"""

import itertools
from collections.abc import Iterator

import pytest

from certiset.core.fit import Predictor, fit
from certiset.core.store import Store
from tests.core.fit.problems import QUICK, class_data, class_model
from tests.core.jobs.deployment_world import World
from tests.core.store.conftest import database_kind, store, template
from tests.launcher import confined_by_forking
from tests.service.server import enter_predictor

__all__ = ["database_kind", "store", "template"]


@pytest.fixture(autouse=True, scope="package")
def _forked() -> Iterator[None]:
    with confined_by_forking():
        yield


@pytest.fixture(scope="module", name="predictors")
def predictors_() -> list[Predictor]:
    return [fit(class_model(), *class_data(300, seed), **QUICK) for seed in range(3)]


@pytest.fixture(name="world")
def world_(store: Store, predictors: list[Predictor]) -> World:
    enter_predictor(store, predictors[0])
    enter_predictor(store, predictors[1])
    return World(store, predictors, [], itertools.count())
