"""Sets by groups over HTTP: in every form of a request the set of the input's own group, watched group by group."""

import io
import json
import struct
from collections.abc import Iterator
from typing import Any

import httpx
import numpy as np
import pytest
from numpy.typing import NDArray

import certiset
from certiset.core.data.frame import Frame, TextColumn
from certiset.core.fit import Predictor, fit
from certiset.core.models import Model
from certiset.core.store import Store
from certiset.service.client import Client
from certiset.service.http.access.keys import KeyRing
from certiset.service.http.access.secret import derive, read_secret
from certiset.service.serving.prediction_ids import PredictionIds
from tests.service.bodies import npz
from tests.service.server import Server, enter_predictor

CLASSES, ROWS = 3, 600
NPZ = {"Content-Type": "application/x-npz"}


def model() -> Model:
    manifest = {"name": "logits", "task": "classification", "classes": CLASSES, "input_shape": [CLASSES]}
    return Model.from_manifest(manifest)


def rows(count: int, seed: int) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[Any], NDArray[Any]]:
    """Inputs, truths, regions (of which one is rare) and years."""
    rng = np.random.default_rng(seed)
    y, place = rng.integers(CLASSES, size=count), rng.choice(3, size=count, p=[0.6, 0.38, 0.02])
    x = np.array([4.0, 1.0, 1.0])[place][:, None] * np.eye(CLASSES)[y] + rng.normal(size=(count, CLASSES))
    return x, y, np.array(["north", "south", "rare"])[place], np.arange(count) % 2


@pytest.fixture(scope="module", name="made")
def made_() -> dict[str, Predictor]:
    x, y, region, year = rows(ROWS, 0)
    frame = Frame(x, ["a", "b", "c"], {"region": TextColumn.of(region.tolist()), "year": year})

    def fitted(**options: Any) -> Predictor:
        return fit(model(), frame, y, method="standard", **options)

    return {
        "region": fitted(groups="region"),
        "refusing": fitted(groups="region", unknown_groups="refuse"),
        "crossed": fitted(groups=["region", "year"]),
        "class": fitted(groups="class"),
    }


@pytest.fixture(scope="module", name="key")
def key_(server: Server, made: dict[str, Predictor]) -> str:
    store = Store(server.settings)
    ring = KeyRing(store, derive(read_secret(server.settings.secret), "api keys"))
    key = ring.create(tenant="gina", name="gina", scopes=["read", "write"])[1]
    for predictor in made.values():
        enter_predictor(store, predictor, "gina")
    store.close()
    return str(key)


@pytest.fixture(name="gina")
def gina_(server: Server, key: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server.url, headers={"Authorization": f"Bearer {key}"}, timeout=60) as client:
        yield client


def ids(made: dict[str, Predictor], name: str = "region") -> str:
    return made[name].certificate.predictor_id


def crossed_groups(region: NDArray[Any], year: NDArray[Any]) -> list[list[Any]]:
    return [[name, int(number)] for name, number in zip(region, year, strict=True)]


def text(row: NDArray[np.float64]) -> str:
    return ",".join(repr(float(value)) for value in row)


def test_one_input_gets_the_set_of_its_group(gina: httpx.Client, made: dict[str, Predictor]) -> None:
    x = rows(1, 5)[0]
    for group in ("north", "south", "rare", "elsewhere"):
        body = gina.get("/predict_set", params={"predictor": ids(made), "x": text(x[0]), "group": group}).json()
        assert body["set"] == made["region"].predict_set(x, groups=[group])[0]
        whole = {"rare": ("rare", "too_few_rows"), "elsewhere": (None, "unknown_group")}.get(group, (group, None))
        assert (body["group"], body.get("whole_space")) == whole
    crossed = {"predictor": ids(made, "crossed"), "x": text(x[0]), "group": ["north", "1"]}
    body = gina.get("/predict_set", params=crossed).json()
    assert body["group"] == ["north", "1"]
    assert body["set"] == made["crossed"].predict_set(x, groups=[["north", 1]])[0]


def test_many_inputs_as_json_and_arrays_have_the_sets_of_core(gina: httpx.Client, made: dict[str, Predictor]) -> None:
    x, _, region, year = rows(400, 6)
    for name, groups in (("region", region.tolist()), ("crossed", crossed_groups(region, year))):
        id, expected = ids(made, name), made[name].predict_set(x, groups=groups).to_json()
        as_json = gina.post("/predict_set", json={"predictor": id, "x": x.tolist(), "groups": groups})
        array = np.array([[str(value) for value in np.atleast_1d(group)] for group in groups])
        array = array[:, 0] if name == "region" else array
        for kind in ("U", "S"):
            body = npz(x=x, groups=array.astype(kind))
            as_npz = gina.post("/predict_set", params={"predictor": id}, content=body, headers=NPZ)
            assert [row["set"] for row in as_npz.json()["predictions"]] == expected
        assert [row["set"] for row in as_json.json()["predictions"]] == expected
        accepted = gina.post(
            "/predict_set", params={"predictor": id}, content=body, headers=NPZ | {"Accept": NPZ["Content-Type"]}
        )
        with np.load(io.BytesIO(accepted.content)) as arrays:
            said = [value.decode() for value in arrays["group"]]
        assert said == [value if isinstance(value, str) else f"{value[0]}, {value[1]}" for value in groups]


def test_groups_are_a_second_tensor_of_the_open_inference_protocol(
    gina: httpx.Client, made: dict[str, Predictor]
) -> None:
    x, _, region, _ = rows(5, 7)
    at, expected = f"/v2/models/{ids(made)}", made["region"].predict_set(x, groups=region)
    described = gina.get(at).json()
    assert described["inputs"][1] == {"name": "groups", "datatype": "BYTES", "shape": [-1]}
    tensor = {"name": "x", "shape": [5, CLASSES], "datatype": "FP64"}
    named = {"name": "groups", "shape": [5], "datatype": "BYTES"}
    body = {"inputs": [{**tensor, "data": x.tolist()}, {**named, "data": region.tolist()}]}
    plain = gina.post(f"{at}/infer", json=body).json()
    outputs = {output["name"]: output for output in plain["outputs"]}
    assert [output["name"] for output in described["outputs"]] == list(outputs)
    assert outputs["mask"]["data"] == expected.mask.reshape(-1).tolist()  # type: ignore[attr-defined]
    assert outputs["group"]["data"] == region.tolist()
    raw = b"".join(struct.pack("<I", len(name)) + name.encode() for name in region.tolist())
    head = json.dumps(
        {
            "inputs": [
                {**tensor, "parameters": {"binary_data_size": x.nbytes}},
                {**named, "parameters": {"binary_data_size": len(raw)}},
            ]
        }
    ).encode()
    headers = {"Inference-Header-Content-Length": str(len(head)), "Content-Type": "application/octet-stream"}
    binary = gina.post(f"{at}/infer", content=head + x.tobytes() + raw, headers=headers).json()
    assert next(o for o in binary["outputs"] if o["name"] == "mask")["data"] == outputs["mask"]["data"]
    for wrong in (raw[:-1], raw + b"\xff", b"\xff\xff\xff\xff"):
        assert gina.post(f"{at}/infer", content=head + x.tobytes() + wrong, headers=headers).status_code == 422
    for second in ({**named, "data": ["a"]}, {**named, "name": "z", "data": []}, {**named, "data": [1] * 5}):
        refused = gina.post(f"{at}/infer", json={"inputs": [{**tensor, "data": x.tolist()}, second]})
        assert refused.status_code == 422, refused.text


@pytest.mark.parametrize(
    ("name", "groups", "sentence"),
    [
        ("region", None, "say the group of every input"),
        ("region", ["north"], "1 entries for 2 rows"),
        ("region", ["north", None], "missing in row 2"),
        ("region", [["north", "1"], ["north", "1"]], "a text or a number"),
        ("region", "north", "must be a list"),
        ("region", [{"a": 1}, "north"], "a text or a number"),
        ("region", ["north", ""], "missing in row 2"),
        ("region", ["north", "n\0"], "letters that no text has"),
        ("region", ["north", "x" * 201], "more than 200 characters"),
        ("crossed", ["north", "north"], "2 entries, one for each column"),
        ("refusing", ["north", "elsewhere"], "'elsewhere' is not one of those"),
        ("class", ["0", "1"], "leave groups out"),
    ],
)
def test_what_is_missing_or_wrong_is_named(
    gina: httpx.Client, made: dict[str, Predictor], name: str, groups: Any, sentence: str
) -> None:
    body = {"predictor": ids(made, name), "x": [[0.0] * CLASSES] * 2}
    answer = gina.post("/predict_set", json=body if groups is None else {**body, "groups": groups})
    assert answer.status_code == 422
    assert sentence in answer.json()["detail"]
    assert answer.json()["errors"][0]["where"] == "groups"


def test_groups_are_the_same_in_whatever_type_they_come(gina: httpx.Client, made: dict[str, Predictor]) -> None:
    """Years were whole numbers at calibration; a form that no number has is another group."""
    id, x = ids(made, "crossed"), [[0.0] * CLASSES]
    for year in (1, 1.0, True, "1"):
        body = gina.post("/predict_set", json={"predictor": id, "x": x, "groups": [["north", year]]})
        assert body.json()["predictions"][0]["group"] == ["north", "1"]
    packed = npz(x=np.zeros((1, CLASSES)), groups=np.array([[b"north", b"1"]]))
    answer = gina.post("/predict_set", params={"predictor": id}, content=packed, headers=NPZ)
    assert answer.json()["predictions"][0]["group"] == ["north", "1"]
    for year in ("1.0", "01", "true"):
        one = gina.get("/predict_set", params={"predictor": id, "x": "0,0,0", "group": ["north", year]}).json()
        assert (one["group"], one["whole_space"]) == (None, "unknown_group")


def test_thousands_of_groups_that_are_not_listed_get_the_whole_space(
    gina: httpx.Client, made: dict[str, Predictor]
) -> None:
    groups = np.arange(5000)
    body = npz(x=np.zeros((5000, CLASSES)), groups=groups)
    answer = gina.post("/predict_set", params={"predictor": ids(made)}, content=body, headers=NPZ).json()
    assert {row["whole_space"] for row in answer["predictions"]} == {"unknown_group"}
    assert {row["set"]["size"] for row in answer["predictions"]} == {CLASSES}


@pytest.mark.parametrize("letters", [b"\xff", "\ud800".encode("utf-8", "surrogatepass")])
def test_bytes_that_are_no_text_are_refused(gina: httpx.Client, made: dict[str, Predictor], letters: bytes) -> None:
    for groups in (np.array([letters]), np.array([0xD800], dtype="<u4").view("U1")):
        body = npz(x=np.zeros((1, CLASSES)), groups=groups)
        answer = gina.post("/predict_set", params={"predictor": ids(made)}, content=body, headers=NPZ)
        assert answer.status_code == 422, answer.text
    raw = json.dumps({"predictor": ids(made), "x": [[0, 0, 0]], "groups": ["\ud800"]})
    answer = gina.post("/predict_set", content=raw.encode(), headers={"Content-Type": "application/json"})
    assert answer.status_code in (400, 422), answer.text


def test_outcomes_of_a_deployment_by_groups_calibrate_the_groups_that_were_asked_for(
    server: Server, key: str, gina: httpx.Client, made: dict[str, Predictor]
) -> None:
    store = Store(server.settings)
    with store.writing() as work:
        # As a calibration over HTTP would have stored them.
        record = work.predictors.get("gina", ids(made, "crossed"))
        work.calibrations.get("gina", record.calibration_id).options = {
            "groups": ["region", "year"],
            "method": "standard",
        }
    body = {"predictor": ids(made, "crossed"), "recalibrate": {"every": {"rows": 500}}}
    answer = gina.put("/deployments/by-region", json=body)
    assert answer.status_code == 201, answer.text
    x, y, region, year = rows(40, 12)
    year[:5] = 7
    with Client(server.url, key) as client:
        asked = client.predict_set("by-region", x, groups=crossed_groups(region, year))
        pairs = zip(asked, y, x, strict=True)
        assert client.outcomes.report((one.prediction_id, truth, row) for one, truth, row in pairs).collected == 40
    with store.reading() as work:
        token = work.deployments.get("gina", "by-region").token
        kept = [row for row in work.blocks.outdated_rows(2e9) if row.token == token]
    found = [row.group_name for row in sorted(kept, key=lambda row: row.number)]
    assert found == [None if number == 7 else [name, str(number)] for name, number in zip(region, year, strict=True)]
    refused = gina.put("/deployments/by-region", json={"predictor": ids(made, "class")})
    assert refused.status_code == 409
    assert "name groups" in refused.json()["detail"]
    store.close()
    assert gina.delete("/deployments/by-region").status_code == 204


def test_a_missing_group_of_one_input_is_named_as_the_address_has_it(
    gina: httpx.Client, made: dict[str, Predictor]
) -> None:
    answer = gina.get("/predict_set", params={"predictor": ids(made), "x": "0,0,0"})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["where"] == "group"


def test_ids_carry_set_and_group_and_outcomes_are_watched_by_group(
    server: Server, gina: httpx.Client, made: dict[str, Predictor]
) -> None:
    x, y, region, _ = rows(60, 8)
    id = ids(made)
    served = gina.post("/predict_set", json={"predictor": id, "x": x.tolist(), "groups": region.tolist()}).json()
    reader = PredictionIds(derive(read_secret(server.settings.secret), "prediction ids"))
    for row, one in enumerate(served["predictions"]):
        said = reader.read("gina", one["prediction_id"])
        assert said is not None
        assert said.set[0] == one["set"]
        assert said.group == ["north", "rare", "south"].index(region[row])
    outcomes = [
        {"prediction_id": one["prediction_id"], "y": int(t)} for one, t in zip(served["predictions"], y, strict=True)
    ]
    assert gina.post("/outcomes", json={"outcomes": outcomes}).json()["counted"] == 60
    monitor = gina.get(f"/predictors/{id}/monitor").json()
    assert monitor["outcomes"] == 60
    found = {one["name"][0]: (one["outcomes"], one["misses"]) for one in monitor["groups"]}
    missed = ~made["region"].predict_set(x, groups=region).contains(y)
    assert found == {
        name: (int(np.sum(region == name)), int(missed[region == name].sum())) for name in ("north", "south")
    }
    assert monitor["eta_coverage"] + 2 * monitor["eta_group"] == pytest.approx(monitor["eta"])


def test_a_group_that_is_missed_too_often_contradicts_the_certificate(
    gina: httpx.Client, made: dict[str, Predictor]
) -> None:
    """Of classes it is the truth that says the group; a correction moves it."""
    id = ids(made, "class")
    sure = [[9.0 + place / 100, 0.0, 0.0] for place in range(40)]
    served = gina.post("/predict_set", json={"predictor": id, "x": sure}).json()["predictions"]
    outcomes = [
        {"prediction_id": one["prediction_id"], "y": 0 if place < 20 else 2} for place, one in enumerate(served)
    ]
    assert gina.post("/outcomes", json={"outcomes": outcomes}).status_code == 200
    monitor = gina.get(f"/predictors/{id}/monitor").json()
    assert [(one["outcomes"], one["misses"], one["contradicted"]) for one in monitor["groups"]] == [
        (20, 0, False),
        (0, 0, False),
        (20, 20, True),
    ]
    assert monitor["status"] == "contradicted"
    assert "groups" in monitor["contradicted_by"]
    for place, one in enumerate(served[20:], 1):
        changed = gina.patch(f"/outcomes/{one['prediction_id']}", json={"y": 0})
        assert changed.status_code == 200, changed.text
        monitor = gina.get(f"/predictors/{id}/monitor").json()
        assert [group["outcomes"] for group in monitor["groups"]] == [20 + place, 0, 20 - place]
    assert monitor["status"] != "contradicted"
    assert not any(group["contradicted"] for group in monitor["groups"])


def test_fresh_inputs_certify_the_size_of_every_group(gina: httpx.Client, made: dict[str, Predictor]) -> None:
    x, _, region, _ = rows(700, 9)
    file = npz(x=x, region=region, column_names=np.array(["a", "b", "c"]))
    dataset = gina.post("/datasets", files={"file": ("fresh.npz", file)}, data={"target": ""}).json()["id"]
    answer = gina.post(f"/predictors/{ids(made)}/sizes", json={"dataset_id": dataset})
    assert answer.status_code == 202, answer.text
    statement = answer.json()
    assert certiset.verify(statement).holds
    assert [group["name"] for group in statement["sizes"]["groups"]] == [["north"], ["south"]]
    assert statement["sizes"]["without"] == int(np.sum(region == "rare"))
    for group in statement["sizes"]["groups"]:
        own = region == group["name"][0]
        size = made["region"].predict_set(x[own], groups=region[own]).size.mean()
        assert group["empirical"] == pytest.approx(size)
        assert size < group["upper_bound"] < size + 0.4


def test_the_client_sends_groups_and_reads_them_from_a_data_frame(
    server: Server, key: str, made: dict[str, Predictor]
) -> None:
    x, _, region, year = rows(900, 10)
    expected = made["crossed"].predict_set(x, groups=np.column_stack([region, year])).to_json()
    with Client(server.url, key) as client:
        one = client.predict_set(ids(made), x[0], groups="north")
        assert one.group == "north"
        few = client.predict_set(ids(made, "crossed"), x[:3], groups=crossed_groups(region[:3], year[:3]))
        many = client.predict_set(ids(made, "crossed"), x, groups=crossed_groups(region, year))
        for answer in (few, many):
            assert [row.set.labels for row in answer] == [tuple(one["labels"]) for one in expected[: len(answer)]]
        columns = {"a": x[:, 0], "b": x[:, 1], "c": x[:, 2], "region": region}
        table: Any = _Table(columns)
        framed = client.predict_set(ids(made), table)
        assert [row.group for row in framed] == region.tolist()


class _Table:
    """As little of a data frame as is needed."""

    def __init__(self, columns: dict[str, NDArray[Any]]) -> None:
        self.columns, self._content = list(columns), columns

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self._content[name]

    def __len__(self) -> int:
        return len(next(iter(self._content.values())))


def test_figures_show_every_group(gina: httpx.Client, made: dict[str, Predictor]) -> None:
    certificate = made["region"].certificate
    for name in ("group_coverage", "group_sizes", "budget", "members"):
        answer = gina.get(f"/certificates/{certificate.id}/figures/{name}")
        assert answer.headers["content-type"] == "image/svg+xml", answer.text
        assert (">north<" in answer.text) == name.startswith("group")
    assert ">south<" in gina.get(f"/predictors/{ids(made)}/figures/group_outcomes").text
    assert gina.get(f"/predictors/{ids(made)}/figures/sizes").status_code == 409
    assert gina.get(f"/predictors/{ids(made, 'class')}/figures/sizes").status_code == 200


def test_figures_and_monitors_call_classes_by_their_names(server: Server, gina: httpx.Client) -> None:
    x, y, _, _ = rows(ROWS, 0)
    described = {"name": "logits", "task": "classification", "classes": CLASSES, "input_shape": [CLASSES]}
    named = Model.from_manifest(described | {"labels": ["oak", "elm", "ash"]})
    made = fit(named, x, y, method="standard", groups="class")
    store = Store.ready(server.settings)
    enter_predictor(store, made, "gina")
    store.close()
    for path in ("group_coverage", "group_sizes"):
        assert ">elm<" in gina.get(f"/certificates/{made.certificate.id}/figures/{path}").text
    id = made.certificate.predictor_id
    assert ">elm<" in gina.get(f"/predictors/{id}/figures/group_outcomes").text
    found = gina.get(f"/predictors/{id}/monitor").json()["groups"]
    assert [(one["name"], one["label"]) for one in found] == [(["0"], "oak"), (["1"], "elm"), (["2"], "ash")]


def test_figures_of_groups_are_refused_where_there_are_none(server: Server, ada: httpx.Client) -> None:
    certificate = server.predictors["classification"].certificate
    for at in (
        f"certificates/{certificate.id}/figures/group_sizes",
        f"predictors/{certificate.predictor_id}/figures/group_outcomes",
    ):
        assert ada.get(f"/{at}").status_code == 409


def test_a_calibration_by_groups_is_checked_before_it_is_queued(gina: httpx.Client) -> None:
    x, y, region, _ = rows(300, 11)
    body = npz(x=x, y=y, region=region, column_names=np.array(["a", "b", "c"]))
    dataset = gina.post("/datasets", files={"file": ("rows.npz", body)}).json()["id"]
    profile = gina.get(f"/datasets/{dataset}/profile").json()
    counted = {one["value"]: one["rows"] for one in profile["groups"]["region"]}
    assert counted == {name: int(np.sum(region == name)) for name in np.unique(region)}
    manifest = {"name": "m", "task": "classification", "classes": CLASSES, "input_shape": [CLASSES]}
    at = gina.post("/models", files={"manifest": (None, json.dumps(manifest))}).json()["id"]
    asked = {"dataset_id": dataset, "model_id": at}
    for options, where, sentence in (
        ({"groups": "regoin"}, "groups", "there is no column 'regoin'; the nearest is 'region'"),
        ({"groups": "region", "method": "pac_bayes"}, "method", "groups cannot be combined with method pac_bayes"),
        ({"groups": "region", "alpha": 0.01}, "dataset_id", "no group has enough rows"),
        ({"groups": "region", "group_list": ["north", "a\0"]}, "group_list", "letters that no text has"),
        ({"groups": "region", "unknown_groups": "other", "method": "standard"}, "unknown_groups", "give group_list"),
    ):
        answer = gina.post("/calibrations", json={**asked, **options})
        assert answer.status_code == 422, answer.text
        assert answer.json()["errors"][0]["where"] == where
        assert sentence in answer.json()["detail"]
    queued = gina.post("/calibrations", json={**asked, "groups": ["region"]})
    assert queued.status_code == 202, queued.text
