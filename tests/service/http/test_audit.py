"""The audit log of a running service: changes by whom, refusals with their number, and who may read it."""

import io
import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from certiset.core.errors import DatabaseUnavailableError
from certiset.core.settings import Settings
from certiset.core.store import Store
from certiset.core.store.audit import Actor, AuditFilter
from certiset.service.cli.main import main
from certiset.service.client import ApiError, Client
from certiset.service.http.refusals import RefusalLog
from tests.databases import new_store
from tests.servers import wait_until
from tests.service.server import Server


def entries(server: Server, who: str = "operator", **params: Any) -> list[dict[str, Any]]:
    with server.client(who) as client:
        answer = client.get("/audit", params={"limit": 200, **params})
        assert answer.status_code == 200, answer.text
        found: list[dict[str, Any]] = answer.json()["items"]
        return found


def key_id(server: Server, who: str) -> str:
    store = Store(server.settings)
    with store.reading() as work:
        found = next(key.id for key in work.keys.list() if key.name == who)
    store.close()
    return found


def npz(seed: int) -> bytes:
    random, stream = np.random.default_rng(seed), io.BytesIO()
    np.savez(stream, x=random.normal(size=(20, 2)), y=random.integers(3, size=20))
    return stream.getvalue()


def test_changes_are_logged_with_who_what_and_when(server: Server, ada: httpx.Client) -> None:
    made = ada.post("/datasets", files={"file": ("audited.npz", npz(101))}).json()["id"]
    again = ada.post("/datasets", files={"file": ("audited.npz", npz(101))})
    assert again.status_code == 200
    predictor = server.id("regression")
    assert ada.patch(f"/predictors/{predictor}", json={"serve": "random"}).status_code == 200
    assert ada.delete(f"/datasets/{made}").status_code == 204
    deleted, created = entries(server, object=made)
    assert (created["action"], deleted["action"]) == ("dataset.create", "dataset.delete")
    for entry in (created, deleted):
        assert entry["result"] == "ok"
        assert entry["tenant"] == "ada"
        assert entry["key_id"] == key_id(server, "ada")
        assert entry["address"] == "127.0.0.1"
        assert entry["object_kind"] == "dataset"
        assert entry["at"].endswith("Z")
    (served, *_) = entries(server, action="predictor.serve", object=predictor)
    assert served["details"] == {"serve": "random"}


def test_outcomes_are_logged_by_number_and_sets_never(server: Server, ada: httpx.Client) -> None:
    predictor = server.id("regression")
    before = len(entries(server))
    rows = ada.post("/predict_set", json={"predictor": predictor, "x": [[0.11], [0.12], [0.13]]}).json()["predictions"]
    ada.get("/predict_set", params={"predictor": predictor, "x": "0.1"})
    outcomes = [{"prediction_id": row["prediction_id"], "y": 0.0} for row in rows]
    for _ in range(2):
        assert ada.post("/outcomes", json={"outcomes": outcomes}).status_code == 200
    (reported, *_) = entries(server, action="outcome.report", object=predictor)
    assert reported["details"] == {"counted": 3}
    assert len(entries(server)) <= before + 2, "a second report changes nothing, and a set is nobody's business"


def test_refusals_are_counted_and_merged(server: Server) -> None:
    begun = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    with server.client("reader") as reader, server.client(None) as nobody:
        for _ in range(25):
            assert reader.delete("/datasets/ds-refused").status_code == 403
            assert nobody.post("/calibrations", json={}).status_code == 401
    with server.client("writer") as writer:
        for number in range(5):
            assert writer.delete(f"/datasets/ds-gone{number}").status_code == 404
            assert writer.get("/datasets/ds-gone").status_code == 404
        large = writer.post("/calibrations", content=b"x" * (2**20 + 1))
        assert large.status_code == 413

    def found(action: str, status: int) -> list[dict[str, Any]]:
        listed = entries(server, action=action, since=begun)
        return [entry for entry in listed if entry["status"] == status]

    wait_until(lambda: found("calibration.create", 413), 20, "the refusals to be written")
    forbidden = found("dataset.delete", 403)
    assert sum(entry["count"] for entry in forbidden) == 25
    assert len(forbidden) <= 6, "a row a period"
    assert {entry["object_id"] for entry in forbidden} == {"ds-refused"}
    assert {(entry["key_id"], entry["tenant"]) for entry in forbidden} == {(key_id(server, "reader"), "ada")}
    assert {(entry["result"], entry["code"]) for entry in forbidden} == {("refused", "forbidden")}
    unknown = found("calibration.create", 401)
    assert sum(entry["count"] for entry in unknown) == 25
    assert {(entry["key_id"], entry["tenant"], entry["address"]) for entry in unknown} == {(None, None, "127.0.0.1")}
    missing = found("dataset.delete", 404)
    assert sum(entry["count"] for entry in missing) == 5
    assert found("read", 404) == [], "reading in vain is no refusal"
    assert found("calibration.create", 413)[0]["code"] == "too_large"


def test_an_admin_sees_one_tenant_and_an_operator_all(server: Server, ada: httpx.Client) -> None:
    made = ada.post("/datasets", files={"file": ("mine.npz", npz(102))}).json()["id"]
    assert [entry["object_id"] for entry in entries(server, "ada", object=made)] == [made]
    assert entries(server, "eve", object=made) == []
    assert {entry["tenant"] for entry in entries(server, "eve")} <= {"eve"}
    assert len(entries(server, "operator", tenant="ada", object=made)) == 1
    with server.client("eve") as eve, server.client("writer") as writer:
        assert eve.get("/audit", params={"tenant": "ada"}).status_code == 403
        assert eve.get("/audit", params={"tenant": "ada", "format": "jsonl"}).status_code == 403
        assert eve.get("/audit", params={"tenant": "eve"}).status_code == 200
        assert writer.get("/audit").json()["detail"] == "This key lacks the scope 'admin'."


@pytest.mark.parametrize(
    "params",
    [
        {"since": "yesterday"},
        {"since": "0.5"},
        {"since": "2026-01-01T00:00:00"},
        {"action": "x; drop"},
        {"object": "a\x00"},
    ],
)
def test_nonsense_is_refused(server: Server, params: dict[str, str]) -> None:
    with server.client("operator") as operator:
        answer = operator.get("/audit", params=params)
        assert answer.status_code == 422
        assert answer.json()["errors"][0]["where"] == next(iter(params))


def test_pages_and_json_lines_hold_the_same(server: Server, ada: httpx.Client) -> None:
    for seed in range(110, 115):
        assert ada.post("/datasets", files={"file": ("page.npz", npz(seed))}).status_code == 201
    paged: list[str] = []
    cursor = None
    while True:
        params: dict[str, Any] = {"limit": 2, "action": "dataset.create", **({"cursor": cursor} if cursor else {})}
        page = ada.get("/audit", params=params).json()
        paged += [entry["id"] for entry in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert len(paged) >= 5
    assert paged == sorted(paged, reverse=True)
    for asked in ({"params": {"format": "jsonl"}}, {"headers": {"Accept": "application/x-ndjson"}}):
        query = {**asked.get("params", {}), "action": "dataset.create"}
        answer = ada.get("/audit", params=query, headers=asked.get("headers"))
        assert answer.headers["content-type"].startswith("application/x-ndjson")
        assert [json.loads(line)["id"] for line in answer.text.splitlines()] == paged
    capped = ada.get("/audit", params={"format": "jsonl", "limit": 3})
    assert len(capped.text.splitlines()) == 3


def test_the_command_exports_what_the_client_lists(server: Server) -> None:
    with Client(server.url, server.keys["operator"]) as client:
        listed = [entry.id for entry in client.audit.list(action="key.create")]
    command = [sys.executable, "-m", "certiset", "audit-log", "--url", server.url, "--action", "key.create"]
    environment = {**os.environ, "CERTISET_KEY": server.keys["operator"]}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == listed
    assert len(listed) >= 5
    with Client(server.url, server.keys["reader"]) as client, pytest.raises(ApiError, match="lacks the scope"):
        list(client.audit.list())


def test_what_an_operator_does_by_command_is_logged_with_the_user(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOGNAME", "grace")
    home = ["--home", str(tmp_path)]
    assert main(["keys", "create", "--scopes", "read", "--tenant", "radiology", *home]) == 0
    assert main(["keys", "list", *home]) == 0
    id = capsys.readouterr().out.split()[1]
    assert main(["keys", "revoke", id, *home]) == 0
    store = Store(Settings(home=tmp_path))
    with store.reading() as work:
        rows = work.audit.list(AuditFilter(tenant="radiology")).items
    store.close()
    assert [(row.action, row.user, row.object_id, row.key_id) for row in rows] == [
        ("key.revoke", "grace", id, None),
        ("key.create", "grace", id, None),
    ]


def count(log: RefusalLog, address: str, times: int = 1) -> None:
    for _ in range(times):
        log.count(action="read", actor=Actor(address=address), tenant=None, status=401, code="unauthorized")


def test_a_flood_from_many_addresses_makes_few_rows(tmp_path: Path) -> None:
    store = new_store(Settings(home=tmp_path))
    log = RefusalLog(store, 3600)
    for number in range(5000):
        count(log, f"2001:db8::{number:x}")
    log.close()
    with store.reading() as work:
        rows = list(work.audit.list(AuditFilter(), limit=1000).items)
    assert len(rows) == 257
    assert sum(row.count for row in rows) == 5000
    assert [row.count for row in rows if row.address is None] == [5000 - 256]
    store.close()


def test_refusals_outlive_a_database_that_is_away_and_are_written_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = new_store(Settings(home=tmp_path))
    log = RefusalLog(store, 0.01)
    away = threading.Event()
    real = Store.writing

    def writing(self: Store) -> Any:
        if away.is_set():
            raise DatabaseUnavailableError("The database is unavailable.")
        return real(self)

    monkeypatch.setattr(Store, "writing", writing)
    away.set()
    count(log, "192.0.2.1", 3)
    time.sleep(0.1)
    count(log, "192.0.2.1", 4)
    away.clear()
    log.close()
    with store.reading() as work:
        assert [row.count for row in work.audit.list(AuditFilter()).items] == [7]
    store.close()
