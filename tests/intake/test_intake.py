"""Uploads become records once, whoever sends them at the same time and whatever happened to the file since."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from core.errors import DataError
from core.intake import add_dataset, add_model
from core.settings import Settings
from core.store import Store
from core.store.migrating import migrate
from tests.fit.problems import toy_model
from tests.servers import postgres_database


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    if request.param == "sqlite":
        yield from opened(Settings(home=tmp_path))
        return
    with postgres_database() as url:
        yield from opened(Settings(home=tmp_path, database_url=url))


def opened(settings: Settings) -> Iterator[Store]:
    made = Store(settings)
    migrate(made.database)
    yield made
    made.close()


def data(folder: Path) -> Path:
    file = folder / "data.npz"
    np.savez(file, x=np.arange(6.0).reshape(3, 2), y=[0, 1, 2])
    return file


def test_equal_uploads_at_once_are_one_dataset_and_one_model(store: Store, tmp_path: Path) -> None:
    file, model = data(tmp_path), toy_model()
    with ThreadPoolExecutor(8) as pool:
        datasets = list(pool.map(lambda _: add_dataset(store, "ada", file, filename="data.npz"), range(8)))
        models = list(pool.map(lambda _: add_model(store, "ada", model.manifest, model.tensors()), range(8)))
    for made in (datasets, models):
        assert len({record.id for record, _ in made}) == 1
        assert sum(new for _, new in made) == 1
    assert add_dataset(store, "eve", file, filename="data.npz")[1]


def test_uploading_again_heals_a_damaged_file(store: Store, tmp_path: Path) -> None:
    record, _ = add_dataset(store, "ada", data(tmp_path), filename="data.npz")
    stored = tmp_path / "artifacts" / record.artifact[:2] / record.artifact
    stored.write_bytes(b"damaged")
    again, new = add_dataset(store, "ada", data(tmp_path), filename="data.npz")
    assert (again.id, new) == (record.id, False)
    assert store.artifacts.intact(record.artifact)
    stored.unlink()
    add_dataset(store, "ada", data(tmp_path), filename="data.npz")
    assert store.artifacts.intact(record.artifact)


def test_names_that_no_database_takes_are_made_printable(store: Store, tmp_path: Path) -> None:
    record, _ = add_dataset(store, "ada", data(tmp_path), filename=f"{'n' * 300}\x00\ud800.npz")
    assert len(record.name) == 200
    with pytest.raises(DataError, match="target must have"):
        add_dataset(store, "ada", data(tmp_path), filename="data.npz", target="y\x00")
