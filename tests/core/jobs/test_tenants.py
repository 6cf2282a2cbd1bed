"""Everything of one tenant is taken out or removed, and nothing of another."""

import json
import threading
import zipfile
from pathlib import Path
from typing import Any

import pytest

from certiset.core.errors import ConflictError, NotFoundError
from certiset.core.jobs import add_model, tenant_erasure
from certiset.core.jobs.tenant_erasure import erase_tenant
from certiset.core.jobs.tenant_export import export_tenant
from certiset.core.store import Store
from certiset.core.store.garbage import orphans
from certiset.core.store.monitors import Levels
from certiset.core.store.outcomes import Reported
from certiset.core.store.records import Calibration
from tests.core.store.records import a_dataset, a_fit_result, a_model, state

LOGITS = {"name": "logits", "task": "classification", "classes": 3, "input_shape": [3]}
OURS, SHARED = b"only ada's", b"of both"


def a_whole_tenant(store: Store, tenant: str, content: bytes) -> Calibration:
    """With a key, data, a model, a calibration that has ended and reported, an outcome, and one that waits."""
    own, shared = store.artifacts.put(content), store.artifacts.put(SHARED)
    with store.writing() as work:
        work.keys.add(tenant=tenant, name="pipeline", scopes=["read"], digest=f"digest-of-{tenant}")
    dataset, model = a_dataset(store, tenant, artifact=own), a_model(store, tenant, artifact=shared)
    with store.writing() as work:
        ended = work.calibrations.create(dataset, model, {"alpha": 0.1})
        claim = work.leases.claim(ended.id)
        assert claim is not None
        work.leases.renew(claim, {"phase": "fit"})
        assert work.leases.succeed(claim, a_fit_result(tenant))
        work.outcomes.add(
            tenant, f"pred-{tenant}", [Reported("n1", False), Reported("n2", True)], Levels(0.1, 0.01, None)
        )
        named = work.deployments.add(tenant, "fraud", f"pred-{tenant}", rows_after=0.0)
        work.deployments.record_event(named, "created")
        work.blocks.begin(named, 1.0, later_rows_alone=False)
        work.blocks.close(named, 2.0)
        work.blocks.add_row(named, "n1", b"\0" * 16, [1.0])
        return work.calibrations.create(dataset, model, {"alpha": 0.1})


@pytest.fixture
def waiting(store: Store) -> Calibration:
    a_whole_tenant(store, "bob", b"only bob's")
    store.artifacts.put(b"members")
    return a_whole_tenant(store, "ada", OURS)


def everything(store: Store, tenant: str, folder: Path) -> dict[str, list[dict[str, Any]]]:
    file = folder / f"{tenant}.zip"
    export_tenant(store, tenant, file)
    with zipfile.ZipFile(file) as archive:
        return {
            name.removeprefix("records/"): [json.loads(line) for line in archive.read(name).splitlines()]
            for name in archive.namelist()
            if name.startswith("records/")
        }


def test_an_export_has_every_record_file_and_certificate_of_the_tenant_and_no_secret(
    store: Store, waiting: Calibration, tmp_path: Path
) -> None:
    file = tmp_path / "ada.zip"
    with store.writing() as work:
        work.audit.add("dataset.create", "ada", "dataset", "ds-1")
        work.audit.add("dataset.create", "eve", "dataset", "ds-2")
    exported = export_tenant(store, "ada", file)
    assert exported.records == {
        "audit": 2,
        "datasets": 1,
        "models": 1,
        "calibrations": 2,
        "batches": 0,
        "predictors": 1,
        "summaries": 1,
        "certificates": 1,
        "attempts": 0,
        "row_sketches": 0,
        "shared_rows": 0,
        "outcomes": 2,
        "monitors": 1,
        "deployments": 1,
        "deployment_events": 1,
        "deployment_blocks": 1,
        "deployment_rows": 1,
        "keys": 1,
        "reports": 1,
    }
    assert exported.damaged == ("c" * 64,), "the records' members were never written"
    with zipfile.ZipFile(file) as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    assert content["certificates/cert-ada.json"] == b"{}"
    assert OURS in content.values()
    assert SHARED in content.values()
    key = json.loads(content["records/keys.jsonl"])
    assert (key["name"], key["tenant"]) == ("pipeline", "ada")
    whole = b"".join(content.values())
    assert b"digest-of" not in whole
    assert b"bob" not in whole
    assert list(tmp_path.glob(".*")) == []


def test_an_export_of_nobody_is_refused(store: Store, tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="There is no tenant nobody"):
        export_tenant(store, "nobody", tmp_path / "file.zip")
    assert not (tmp_path / "file.zip").exists()


def test_erasing_leaves_nothing_of_the_tenant_and_everything_of_others(
    store: Store, waiting: Calibration, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tenant_erasure, "_JUST_WRITTEN_SECONDS", -60)
    before = everything(store, "bob", tmp_path)
    erased = erase_tenant(store, "ada", key_seconds=0)
    assert (erased.records, erased.artifacts) == (14, 1)
    with store.reading() as work:
        assert work.tenants.names() == ["bob"]
        assert work.keys.of_digest("digest-of-ada") is None
        assert work.reports.after(waiting.id, 0) == []
    assert everything(store, "bob", tmp_path) == before
    assert [file.sha256 for file in orphans(store, older_than=-60)] == [store.artifacts.put(b"members")]
    with pytest.raises(NotFoundError, match="There is no tenant ada"):
        erase_tenant(store, "ada", key_seconds=0)


def test_an_erasure_that_was_interrupted_goes_on_and_lets_nothing_in(
    store: Store, waiting: Calibration, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(tenant_erasure, "_remove_records", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            erase_tenant(store, "ada", key_seconds=0)
    assert state(store, waiting).status == "cancelled"
    with pytest.raises(ConflictError, match="is being erased"):
        add_model(store, "ada", LOGITS)
    erase_tenant(store, "ada", key_seconds=0)
    with store.reading() as work:
        assert work.tenants.names() == ["bob"]


def test_a_running_calibration_is_stopped_before_anything_is_removed(store: Store, waiting: Calibration) -> None:
    with store.writing() as work:
        claim = work.leases.claim(waiting.id)
    assert claim is not None
    with pytest.raises(ConflictError, match="1 jobs of ada were asked to stop and still run"):
        erase_tenant(store, "ada", wait=0.1, key_seconds=0)
    done = threading.Thread(target=erase_tenant, args=(store, "ada"), kwargs={"key_seconds": 0})
    done.start()
    with store.writing() as work:
        assert work.leases.renew(claim).cancel_requested
        assert work.leases.stop(claim)
    done.join(20)
    with store.reading() as work:
        assert work.tenants.names() == ["bob"]
