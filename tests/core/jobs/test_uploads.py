"""Uploads become records once, whoever sends them at the same time and whatever happened to the file since."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from certiset.core.errors import DataError, DuplicateError, ModelError
from certiset.core.jobs import add_dataset, add_model, insert
from certiset.core.settings import Settings
from certiset.core.store import Store
from certiset.core.store.records import Dataset, ModelRecord
from tests.core.fit.problems import toy_model
from tests.core.models import onnx_files
from tests.databases import new_store


def data(folder: Path) -> Path:
    file = folder / "data.npz"
    if not file.exists():
        np.savez(file, x=np.arange(6.0).reshape(3, 2), y=[0, 1, 2])
    return file


def upload_data(store: Store, tenant: str = "ada") -> tuple[Dataset, bool]:
    return add_dataset(store, tenant, data(store.settings.home), filename="data.npz")


def upload_model(store: Store, tenant: str = "ada") -> tuple[ModelRecord, bool]:
    model = toy_model()
    return add_model(store, tenant, model.manifest, model.tensors())


Upload = Callable[..., tuple[Any, bool]]
uploads = pytest.mark.parametrize("upload", [upload_data, upload_model])


def stored_file(store: Store, artifact: str) -> Path:
    return store.settings.home / "artifacts" / artifact[:2] / artifact


@uploads
def test_equal_uploads_at_once_are_one_record(store: Store, upload: Upload) -> None:
    upload(store, "bob")
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: upload(store), range(8)))
    assert len({record.id for record, _ in made}) == 1
    assert sum(new for _, new in made) == 1
    assert upload(store, "eve")[1]


@uploads
def test_uploading_again_heals_a_damaged_or_missing_file(store: Store, upload: Upload) -> None:
    record, _ = upload(store)
    stored_file(store, record.artifact).write_bytes(b"damaged")
    again, new = upload(store)
    assert (again.id, again.artifact, new) == (record.id, record.artifact, False)
    assert store.artifacts.intact(record.artifact)
    stored_file(store, record.artifact).unlink()
    assert upload(store)[0].id == record.id
    assert store.artifacts.intact(record.artifact)


@uploads
def test_a_file_that_is_collected_before_its_record_is_inserted_is_written_again(
    store: Store, upload: Upload, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = insert.insert_or_get

    def collected_before(store: Store, *rest: Any) -> Any:
        for file in (store.settings.home / "artifacts").glob("??/*"):
            file.unlink()
        return real(store, *rest)

    monkeypatch.setattr(insert, "insert_or_get", collected_before)
    record, new = upload(store)
    assert new
    assert store.artifacts.intact(record.artifact)


@uploads
def test_content_that_is_known_is_neither_read_nor_written_again(
    store: Store, upload: Upload, monkeypatch: pytest.MonkeyPatch
) -> None:
    record, _ = upload(store)
    monkeypatch.setattr(store.artifacts, "put", lambda _: pytest.fail("was written again"))
    assert upload(store)[0].id == record.id


def test_of_two_who_insert_at_once_the_second_finds_the_first(store: Store) -> None:
    record, _ = upload_data(store)
    looked = 0

    def find_late(work: Any) -> Any:
        """Not there at the first look, as if the other were inserted between the look and the insert."""
        nonlocal looked
        looked += 1
        return work.datasets.of_content("ada", record.sha256, "y") if looked > 1 else None

    def double(work: Any) -> Any:
        same = {"tenant": "ada", "sha256": record.sha256, "target": "y", "artifact": record.artifact}
        return work.datasets.add(Dataset(id="ds-2", name="", rows=3, x_shape=[2], y_kind="labels", bytes=1, **same))

    found, new = insert.insert_or_get(store, find_late, double)
    assert (found.id, new) == (record.id, False)
    with pytest.raises(DuplicateError):
        insert.insert_or_get(store, lambda _: None, double)


def test_names_that_no_database_takes_are_made_printable(store: Store, tmp_path: Path) -> None:
    record, _ = add_dataset(store, "ada", data(tmp_path), filename=f"{'n' * 300}\x00\ud800.npz")
    assert len(record.name) == 200
    with pytest.raises(DataError, match="target must be printable text of at most 1,000 characters") as caught:
        add_dataset(store, "ada", data(tmp_path), filename="data.npz", target="y\x00")
    assert caught.value.field == "target"


def test_what_is_refused_leaves_nothing_behind(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "data.csv"
    file.write_text("a,y\n1,x\n2,0\n")
    with pytest.raises(DataError, match="Row 1"):
        add_dataset(store, "ada", file, filename="data.csv")
    with pytest.raises(ModelError, match=r"backbone\.kind must be"):
        add_model(store, "ada", {"task": "regression", "input_shape": [1], "backbone": {"kind": "vgg"}})
    assert not list((tmp_path / "artifacts").glob("??/*"))
    with store.reading() as work:
        assert not work.datasets.list("ada").items
        assert not work.models.list("ada").items


@pytest.mark.parametrize(
    ("filename", "content", "target", "field"),
    [
        ("data.csv", b"a,y\n1,0\n1e999,1\n", "y", "file"),
        ("data.csv", b"a,y\n1,0\n2,nan\n", "y", "file"),
        ("data.csv", b"a,y\n1,0\n", "y", "file"),
        ("data.csv", b"a,y\n1,0\n2,1\n", "z", "target"),
        ("data.csv", b"\xff", "y", "file"),
        ("data.npz", b"no zip", "y", "file"),
        ("data.parquet", b"PAR1PAR1", "y", "file"),
        ("data.exe", b"MZ", "y", "file"),
    ],
)
def test_an_error_names_the_field_of_the_upload_of_data(
    tmp_path: Path, filename: str, content: bytes, target: str, field: str
) -> None:
    (tmp_path / "upload").write_bytes(content)
    with closing(new_store(Settings(home=tmp_path))) as store:
        with pytest.raises(DataError) as refused:
            add_dataset(store, "ada", tmp_path / "upload", filename=filename, target=target)
        assert refused.value.field == field


MANIFEST: dict[str, Any] = {"task": "regression", "input_shape": [4]}


@pytest.mark.parametrize(
    ("manifest", "weights", "onnx", "field"),
    [
        ("{", None, None, "manifest"),
        ([], None, None, "manifest"),
        ({**MANIFEST, "task": "clustering"}, None, None, "manifest.task"),
        ({**MANIFEST, "head": {"kind": "mlp", "widths": [3, 1]}}, None, None, "manifest.head.widths"),
        ({**MANIFEST, "head": {"kind": "mlp", "widths": [4, 1]}}, None, None, "weights"),
        ({**MANIFEST, "head": {"kind": "mlp", "widths": [4, 1]}}, b"nonsense", None, "weights"),
        ({**MANIFEST, "backbone": {"kind": "lenet5"}}, None, None, "weights"),
        ({**MANIFEST, "backbone": {"kind": "onnx"}}, None, None, "manifest.backbone.kind"),
        ({**MANIFEST, "backbone": {"kind": "onnx"}}, None, b"nonsense", "onnx"),
        ({**MANIFEST, "input_shape": [5], "backbone": {"kind": "onnx"}}, None, onnx_files.linear(), "onnx"),
    ],
)
def test_an_error_names_the_field_of_the_upload_of_a_model(
    tmp_path: Path, manifest: Any, weights: bytes | None, onnx: bytes | None, field: str
) -> None:
    paths = {"weights": tmp_path / "weights", "onnx": tmp_path / "onnx"}
    for path, content in zip(paths.values(), (weights, onnx), strict=True):
        path.write_bytes(content or b"")
    given = [
        path if content is not None else None for path, content in zip(paths.values(), (weights, onnx), strict=True)
    ]
    with closing(new_store(Settings(home=tmp_path))) as store:
        with pytest.raises(ModelError) as refused:
            add_model(store, "ada", manifest, given[0], onnx=given[1])
        assert refused.value.field == field
