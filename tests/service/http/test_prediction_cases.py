"""Callers name the cases of rows, in JSON and in .npz alike."""

import io
from typing import Any

import httpx
import numpy as np
import pytest
from numpy.typing import NDArray

from tests.service.bodies import NPZ, npz
from tests.service.server import Server


def test_cases_of_rows_in_npz_are_those_of_json(server: Server, ada: httpx.Client) -> None:
    id, x = server.id("pool"), np.zeros((5, 6))
    # Cases that no other test reports to this server.
    names = ["npz 17", "npz, Ada & Co", "Zoë", "npz 17", "x" * 200]
    expected = ada.post("/predict_set", json={"predictor": id, "x": x.tolist(), "cases": names}).json()["predictions"]
    numbers = ada.post("/predict_set", json={"predictor": id, "x": x.tolist(), "cases": list("01234")}).json()
    # However a case is written, it has its member again, and counts once.
    for case, same, counted in (
        (np.array(names), expected, 4),
        (np.array(names, dtype=">U200"), expected, 0),
        (np.array([name.encode() for name in names]), expected, 0),
        (np.arange(5, dtype=np.uint8), numbers["predictions"], 5),
    ):
        answer = ada.post("/predict_set", params={"predictor": id}, content=npz(x=x, case=case), headers=NPZ).json()
        assert [row["member"] for row in answer["predictions"]] == [row["member"] for row in same]
        ids = [{"prediction_id": row["prediction_id"], "y": 0} for row in answer["predictions"]]
        assert ada.post("/outcomes", json={"outcomes": ids}).json()["counted"] == counted


BAD_LETTERS = np.frombuffer(np.array([0x61, 0x110000, 0x62], dtype=np.uint32).tobytes(), dtype="U1")


@pytest.mark.parametrize(
    ("case", "words"),
    [
        (np.array(["a", "b"]), "has 2 entries, and x has 3 rows"),
        (np.array([["a", "b", "c"]]), "one entry for each row of x, not the shape (1, 3)"),
        (np.array("a"), "one entry for each row of x, not the shape ()"),
        (np.array([1.0, 2.0, 3.0]), "must hold texts of at most 200 characters, or whole numbers, not float64"),
        (np.array([True, False, True]), "not bool"),
        (np.array(["a", "b", "c" * 201]), "must hold texts of at most 200 characters"),
        (np.array([b"a", b"b", b"c" * 801]), "must hold texts of at most 200 characters"),
        (np.array([b"a", b"b", b"c" * 201]), "case must be a text of 1 to 200 characters"),
        (np.array(["a", "b", ""]), "case must be a text of 1 to 200 characters"),
        (np.array([b"a", b"b", b"\xff"]), "bytes must be UTF-8"),
        (np.array(["a", "b", None], dtype=object), "Python objects"),
        (np.array(["2020-01-01"] * 3, dtype="datetime64[D]"), "not datetime64"),
        (np.zeros(3, dtype=[("name", "U3")]), "whole numbers"),
        (BAD_LETTERS, "not text"),
    ],
)
def test_an_array_of_cases_that_is_none(server: Server, ada: httpx.Client, case: NDArray[Any], words: str) -> None:
    asked = {"predictor": server.id("regression")}
    answer = ada.post("/predict_set", params=asked, content=npz(x=np.zeros((3, 1)), case=case), headers=NPZ)
    assert answer.status_code == 422, answer.text
    assert words in answer.json()["detail"]
    assert answer.json()["errors"][0]["where"] == "case"


def test_cases_are_counted_before_they_are_read(server: Server, ada: httpx.Client) -> None:
    asked = {"predictor": server.id("regression"), "case": "again"}
    twice = ada.post("/predict_set", params=asked, content=npz(x=np.zeros((1, 1)), case=np.ones(1, int)), headers=NPZ)
    assert (twice.status_code, twice.json()["errors"][0]["where"]) == (422, "case")
    del asked["case"]
    # A few kilobytes that would be millions of texts: refused by their number, or by what they unpack to.
    for case, status in ((np.zeros(300_000, "S1"), 413), (np.zeros(2_000_000, "U1"), 422)):
        stream = io.BytesIO()
        np.savez_compressed(stream, x=np.zeros((len(case), 1), np.uint8), case=case)
        answer = ada.post("/predict_set", params=asked, content=stream.getvalue(), headers=NPZ)
        assert answer.status_code == status, answer.text
