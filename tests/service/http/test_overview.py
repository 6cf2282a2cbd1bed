"""The overview, new names, budgets and profiles over HTTP."""

import httpx
import pytest

from tests.service.server import Server


def test_the_overview_has_the_numbers_of_the_certificates(server: Server, ada: httpx.Client) -> None:
    certificate = server.predictors["regression"].certificate
    rows = ada.get("/overview", params={"search": certificate.predictor_id}).json()["items"]
    assert len(rows) == 1
    (row,) = rows
    assert (row["n"], row["alpha"], row["delta"]) == (
        certificate.coverage.n,
        certificate.coverage.alpha,
        certificate.coverage.delta,
    )
    assert row["size"] == certificate.efficiency.empirical
    assert row["certified_size"] == certificate.efficiency.upper_bound
    assert row["certificate_id"] == certificate.id
    # Other tests report outcomes of this predictor too, so that its monitor is asked.
    monitor = ada.get(f"/predictors/{certificate.predictor_id}/monitor").json()
    assert (row["status"], row["outcomes"]) == (monitor["status"], monitor["outcomes"])


def test_lists_are_sorted_and_paged_by_the_server(ada: httpx.Client) -> None:
    whole = ada.get("/overview", params={"sort": "-n"}).json()["items"]
    counts = [row["n"] for row in whole if row["n"] is not None]
    assert counts == sorted(counts, reverse=True)
    found, cursor = [], None
    while True:
        page = ada.get("/overview", params={"sort": "-n", "limit": 2, **({"cursor": cursor} if cursor else {})}).json()
        found += page["items"]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert found == whole
    ids = [row["predictor_id"] for row in whole if row["predictor_id"]]
    assert [one["id"] for one in ada.get("/predictors", params={"sort": "-n"}).json()["items"]] == ids
    for wrong in ({"sort": "colour"}, {"status": "sad"}, {"sort": "n", "cursor": "x"}):
        assert ada.get("/overview", params=wrong).status_code == 422


def test_others_neither_see_nor_rename(server: Server, ada: httpx.Client) -> None:
    id = server.id("doomed")
    with server.client("eve") as eve:
        assert all(row["predictor_id"] != id for row in eve.get("/overview").json()["items"])
        assert eve.patch(f"/predictors/{id}", json={"name": "mine"}).status_code == 404
    with server.client("reader") as reader:
        assert reader.patch(f"/predictors/{id}", json={"name": "mine"}).status_code == 403


def test_names_are_changed_and_certificates_keep_theirs(server: Server, ada: httpx.Client) -> None:
    id, calibration = server.id("regression"), server.calibrations["regression"]
    before = ada.get(f"/certificates/{server.predictors['regression'].certificate.id}").content
    places = {
        f"/predictors/{id}": "name",
        f"/datasets/{calibration.dataset_id}": "dataset_name",
        f"/models/{calibration.model_id}": "model_name",
    }
    for path, shown in places.items():
        old = ada.get(path).json()["name"]
        assert ada.patch(path, json={"name": "Ünïque %_"}).json()["name"] == "Ünïque %_"
        rows = ada.get("/overview", params={"search": "ünïque %_"}).json()["items"]
        assert [row[shown] for row in rows if row["predictor_id"] == id] == ["Ünïque %_"]
        assert ada.patch(path, json={"name": ""}).status_code == 422
        assert ada.patch(path, json={"name": "\u200b"}).status_code == 422
        ada.patch(path, json={"name": old or "regression"})
    assert ada.get(f"/certificates/{server.predictors['regression'].certificate.id}").content == before
    refused = ada.patch(f"/predictors/{id}", json={})
    assert (refused.status_code, refused.json()["detail"]) == (
        422,
        "Nothing is to be changed: give serve, name, or both.",
    )


def test_a_budget_says_whether_rows_are_enough(ada: httpx.Client) -> None:
    enough = ada.get("/budget", params={"n": 1000, "alpha": 0.1, "delta": 0.05, "groups": "400,300,250,20"}).json()
    assert (enough["least"], enough["rank"], round(enough["level"], 3)) == (29, 85, 0.085)
    assert (enough["groups"], enough["groups_enough"]) == (4, 3)
    each = enough["each_group"]
    assert [one["rank"] is None for one in each] == [one["lacking"] > 0 for one in each]
    assert {one["lacking"] for one in each if one["rank"] is None} == {
        enough["group_least"] - min(o["n"] for o in each)
    }
    few = ada.get("/budget", params={"n": 28}).json()
    assert (few["enough"], few["rank"], few["least"]) == (False, None, 29)
    for wrong in ("n=1", "n=100&alpha=1", "n=100&delta=0", "n=100&groups=1,x"):
        assert ada.get(f"/budget?{wrong}").status_code == 422


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_a_profile_counts_what_is_in_the_data(server: Server, ada: httpx.Client, task: str) -> None:
    dataset = server.calibrations[task].dataset_id
    profile = ada.get(f"/datasets/{dataset}/profile").json()
    assert (profile["rows"], profile["distinct"]) == (50, 50)
    counted = [one["rows"] for one in profile["classes"]] if task == "classification" else profile["heights"]
    assert sum(counted) == 50
    with server.client("eve") as eve:
        assert eve.get(f"/datasets/{dataset}/profile").status_code == 404


def test_a_table_shows_classes_and_text_by_name(ada: httpx.Client) -> None:
    lines = [f"{n % 7},{('north', 'south', '')[n % 3]},{('oak', 'elm')[n % 2]}" for n in range(30)]
    file = "\n".join(["height,region,tree", *lines]).encode()
    dataset = ada.post("/datasets", files={"file": ("trees.csv", file)}, data={"target": "tree"}).json()["id"]
    profile = ada.get(f"/datasets/{dataset}/profile").json()
    assert profile["classes"] == [{"value": "elm", "rows": 15}, {"value": "oak", "rows": 15}]
    assert profile["groups"]["region"] == [{"value": "north", "rows": 10}, {"value": "south", "rows": 10}]
    assert len(profile["groups"]["height"]) == 7
    rows = ada.get(f"/datasets/{dataset}/rows", params={"start": 1, "limit": 3}).json()
    assert rows["further"] == {"region": ["south", None, "north"]}
    assert [rows["y_names"][y] for y in rows["y"]] == ["elm", "oak", "elm"]
