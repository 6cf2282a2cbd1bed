"""Sets by groups over HTTP: in every form of a request the set of the input's own group."""

import io
import json
import struct
from typing import Any

import httpx
import numpy as np
import pytest
from numpy.typing import NDArray

from certiset.core.fit import Predictor
from certiset.service.client import Client
from tests.service.bodies import npz
from tests.service.http.group_rows import CLASSES, NPZ, crossed_groups, ids, rows, text
from tests.service.server import Server


def test_one_input_gets_the_set_of_its_group(gina: httpx.Client, grouped: dict[str, Predictor]) -> None:
    x = rows(1, 5)[0]
    for group in ("north", "south", "rare", "elsewhere"):
        body = gina.get("/predict_set", params={"predictor": ids(grouped), "x": text(x[0]), "group": group}).json()
        assert body["set"] == grouped["region"].predict_set(x, groups=[group])[0]
        whole = {"rare": ("rare", "too_few_rows"), "elsewhere": (None, "unknown_group")}.get(group, (group, None))
        assert (body["group"], body.get("whole_space")) == whole
    crossed = {"predictor": ids(grouped, "crossed"), "x": text(x[0]), "group": ["north", "1"]}
    body = gina.get("/predict_set", params=crossed).json()
    assert body["group"] == ["north", "1"]
    assert body["set"] == grouped["crossed"].predict_set(x, groups=[["north", 1]])[0]


def test_a_pool_answers_by_a_member_and_the_group(gina: httpx.Client, grouped: dict[str, Predictor]) -> None:
    x, predictor, seen = rows(1, 5)[0], grouped["pool"], set()
    asked = {"predictor": ids(grouped, "pool"), "x": text(x[0])}
    for group in ("north", "south"):
        for case in map(str, range(12)):
            body = gina.get("/predict_set", params={**asked, "group": group, "case": case}).json()
            assert body["set"] == predictor.predict_set(x, member=body["member"], groups=[group])[0]
            again = gina.get("/predict_set", params={**asked, "group": group, "case": case}).json()
            assert again["member"] == body["member"]
            seen.add(body["member"])
    assert seen == {0, 1}
    truth = {"prediction_id": body["prediction_id"], "y": 0}
    assert gina.post("/outcomes", json=truth).status_code == 200
    watched = gina.get(f"/predictors/{ids(grouped, 'pool')}/monitor").json()
    assert [group["outcomes"] for group in watched["groups"][:2]] == [0, 1]
    for figure in ("group_coverage", "group_sizes"):
        at = f"/certificates/{predictor.certificate.id}/figures/{figure}"
        assert gina.get(at).status_code == 200


def test_many_inputs_as_json_and_arrays_have_the_sets_of_core(
    gina: httpx.Client, grouped: dict[str, Predictor]
) -> None:
    x, _, region, year = rows(400, 6)
    for name, groups in (("region", region.tolist()), ("crossed", crossed_groups(region, year))):
        id, expected = ids(grouped, name), grouped[name].predict_set(x, groups=groups).to_json()
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
    gina: httpx.Client, grouped: dict[str, Predictor]
) -> None:
    x, _, region, _ = rows(5, 7)
    at, expected = f"/v2/models/{ids(grouped)}", grouped["region"].predict_set(x, groups=region)
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
    gina: httpx.Client, grouped: dict[str, Predictor], name: str, groups: Any, sentence: str
) -> None:
    body = {"predictor": ids(grouped, name), "x": [[0.0] * CLASSES] * 2}
    answer = gina.post("/predict_set", json=body if groups is None else {**body, "groups": groups})
    assert answer.status_code == 422
    assert sentence in answer.json()["detail"]
    assert answer.json()["errors"][0]["where"] == "groups"


def test_groups_are_the_same_in_whatever_type_they_come(gina: httpx.Client, grouped: dict[str, Predictor]) -> None:
    """Years were whole numbers at calibration; a form that no number has is another group."""
    id, x = ids(grouped, "crossed"), [[0.0] * CLASSES]
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
    gina: httpx.Client, grouped: dict[str, Predictor]
) -> None:
    groups = np.arange(5000)
    body = npz(x=np.zeros((5000, CLASSES)), groups=groups)
    answer = gina.post("/predict_set", params={"predictor": ids(grouped)}, content=body, headers=NPZ).json()
    assert {row["whole_space"] for row in answer["predictions"]} == {"unknown_group"}
    assert {row["set"]["size"] for row in answer["predictions"]} == {CLASSES}


@pytest.mark.parametrize("letters", [b"\xff", "\ud800".encode("utf-8", "surrogatepass")])
def test_bytes_that_are_no_text_are_refused(gina: httpx.Client, grouped: dict[str, Predictor], letters: bytes) -> None:
    for groups in (np.array([letters]), np.array([0xD800], dtype="<u4").view("U1")):
        body = npz(x=np.zeros((1, CLASSES)), groups=groups)
        answer = gina.post("/predict_set", params={"predictor": ids(grouped)}, content=body, headers=NPZ)
        assert answer.status_code == 422, answer.text
    raw = json.dumps({"predictor": ids(grouped), "x": [[0, 0, 0]], "groups": ["\ud800"]})
    answer = gina.post("/predict_set", content=raw.encode(), headers={"Content-Type": "application/json"})
    assert answer.status_code in (400, 422), answer.text


def test_a_missing_group_of_one_input_is_named_as_the_address_has_it(
    gina: httpx.Client, grouped: dict[str, Predictor]
) -> None:
    answer = gina.get("/predict_set", params={"predictor": ids(grouped), "x": "0,0,0"})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["where"] == "group"


def test_the_client_sends_groups_and_reads_them_from_a_data_frame(
    server: Server, gina_key: str, grouped: dict[str, Predictor]
) -> None:
    x, _, region, year = rows(900, 10)
    expected = grouped["crossed"].predict_set(x, groups=np.column_stack([region, year])).to_json()
    with Client(server.url, gina_key) as client:
        one = client.predict_set(ids(grouped), x[0], groups="north")
        assert one.group == "north"
        few = client.predict_set(ids(grouped, "crossed"), x[:3], groups=crossed_groups(region[:3], year[:3]))
        many = client.predict_set(ids(grouped, "crossed"), x, groups=crossed_groups(region, year))
        for answer in (few, many):
            assert [row.set.labels for row in answer] == [tuple(one["labels"]) for one in expected[: len(answer)]]
        columns = {"a": x[:, 0], "b": x[:, 1], "c": x[:, 2], "region": region}
        table: Any = _Table(columns)
        framed = client.predict_set(ids(grouped), table)
        assert [row.group for row in framed] == region.tolist()


class _Table:
    """As little of a data frame as is needed."""

    def __init__(self, columns: dict[str, NDArray[Any]]) -> None:
        self.columns, self._content = list(columns), columns

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self._content[name]

    def __len__(self) -> int:
        return len(next(iter(self._content.values())))


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
