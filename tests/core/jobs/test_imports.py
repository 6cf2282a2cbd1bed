"""What a saved predictor says is read, recomputed and built where a stranger can do no harm."""

import json
from pathlib import Path
from typing import NoReturn

import pytest

from certiset.core.certificate.signing import Signer
from certiset.core.data.limits import Limits
from certiset.core.errors import DataError, TooLargeError
from certiset.core.fit import fit
from certiset.core.jobs import imports
from certiset.core.store import Store
from certiset.core.store.records import PredictorRecord
from tests.core.fit.problems import class_data, class_model


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("saved")
    fit(class_model(), *class_data(400, 0), alpha=0.2, method="standard").save(folder)
    return folder


@pytest.fixture(name="signer")
def signer_(store: Store) -> Signer:
    return Signer.from_file_or_new(store.settings.signing_key)


def import_with(store: Store, signer: Signer, saved: Path, description: Path) -> tuple[PredictorRecord, bool]:
    return imports.import_predictor(
        store, "ada", description, saved / "predictor.safetensors", name="theirs", signer=signer
    )


def test_this_process_reads_nothing_but_what_a_confined_one_found(
    store: Store, signer: Signer, saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forbidden(file: Path) -> NoReturn:
        raise AssertionError(f"{file} is read here")

    monkeypatch.setattr(imports, "read_description", forbidden)
    monkeypatch.setattr(Path, "read_bytes", forbidden)
    record, is_new = import_with(store, signer, saved, saved / "predictor.json")
    assert (is_new, record.name) == (True, "theirs")


def test_a_description_of_many_megabytes_is_refused_before_it_is_read(
    store: Store, signer: Signer, saved: Path, tmp_path: Path
) -> None:
    large = tmp_path / "predictor.json"
    large.write_bytes(b"[" * (Limits().json_bytes + 1))
    with pytest.raises(TooLargeError, match="at most 16,777,216 bytes") as caught:
        import_with(store, signer, saved, large)
    assert caught.value.field == "description"


def test_what_is_wrong_with_a_description_is_said_without_its_place(
    store: Store, signer: Signer, saved: Path, tmp_path: Path
) -> None:
    wrong = tmp_path / "upload-x"
    better = json.loads((saved / "predictor.json").read_text())
    better["certificate"]["coverage"]["n"] = 10**15
    for content, words in (
        (b"{}", "predictor.json is not the description"),
        (json.dumps(better).encode(), "certificate"),
    ):
        wrong.write_bytes(content)
        with pytest.raises(DataError, match=words) as caught:
            import_with(store, signer, saved, wrong)
        assert caught.value.field == "description"
        assert str(tmp_path) not in str(caught.value)
