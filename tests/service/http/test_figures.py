"""Figures are SVG that browsers can read, and what they show is what the service says elsewhere."""

import itertools
import json
import re
from xml.etree import ElementTree

import httpx
import numpy as np
import pytest

from certiset.service.figures.plot import BLUE, Plot, extent, ticks
from certiset.service.figures.progress import kl_figure, loss_figure
from tests.service.server import Server

SVG = "{http://www.w3.org/2000/svg}"


def drawn(client: httpx.Client, path: str) -> ElementTree.Element:
    answer = client.get(path)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "image/svg+xml"
    return ElementTree.fromstring(answer.text)


def words(figure: ElementTree.Element) -> str:
    found = figure.find(f"{SVG}desc")
    assert found is not None
    assert found.text is not None
    return found.text


@pytest.mark.parametrize("task", ["classification", "regression", "pool", "mean"])
def test_a_certificate_is_drawn_with_its_own_numbers(server: Server, ada: httpx.Client, task: str) -> None:
    certificate = server.predictors[task].certificate
    budget = drawn(ada, f"/certificates/{certificate.id}/figures/budget")
    assert f"stands at rank {certificate.coverage.k}" in words(budget)
    members = drawn(ada, f"/certificates/{certificate.id}/figures/members")
    assert len(members.findall(f".//{SVG}circle")) == len(certificate.members) + 1  # and one in the legend


def test_the_sizes_are_those_of_served_sets(server: Server, ada: httpx.Client) -> None:
    id = server.id("classification")
    rows = ada.get(f"/datasets/{server.calibrations['classification'].dataset_id}/rows", params={"limit": 200}).json()
    sets = ada.post("/predict_set", json={"predictor": id, "x": rows["x"]}).json()["predictions"]
    mean = np.mean([one["set"]["size"] for one in sets])
    figure = words(drawn(ada, f"/predictors/{id}/figures/sizes"))
    said = re.search(r"The sets of (\d+) rows have ([\d.]+) labels on average\.", figure)
    assert said is not None
    assert int(said[1]) == rows["rows"]
    # Both draw a member for each row, and a few rows have another set by another member.
    assert abs(float(said[2]) - mean) <= 0.1


@pytest.mark.parametrize("task", ["classification", "pool"])
def test_two_looks_at_the_sizes_find_the_same_numbers(server: Server, ada: httpx.Client, task: str) -> None:
    """Members are drawn for whoever asks for sets, but nobody would believe a figure that changes at each look."""
    id = server.id(task)
    assert len(server.predictors[task].certificate.members) > 1
    looks = {words(drawn(ada, f"/predictors/{id}/figures/sizes")) for _ in range(8)}
    assert len(looks) == 1


def test_rows_beyond_the_end_are_none(server: Server, ada: httpx.Client) -> None:
    path = f"/datasets/{server.calibrations['classification'].dataset_id}/rows"
    last = ada.get(path, params={"start": 49}).json()
    assert (len(last["x"]), len(last["x"][0]), last["rows"]) == (1, 2, 50)
    for start in (50, 2**53):
        answer = ada.get(path, params={"start": start})
        assert (answer.status_code, answer.json()["x"], answer.json()["y"]) == (200, [], [])


def test_the_band_counts_who_lies_inside(server: Server, ada: httpx.Client) -> None:
    id = server.id("regression")
    figure = drawn(ada, f"/predictors/{id}/figures/band")
    said = re.search(r"with (\d+) uploaded rows, of which (\d+) lie inside", words(figure))
    assert said is not None
    dataset = server.calibrations["regression"].dataset_id
    rows = ada.get(f"/datasets/{dataset}/rows", params={"limit": 200}).json()
    sets = ada.post("/predict_set", json={"predictor": id, "x": rows["x"]}).json()["predictions"]
    inside = sum(one["set"]["lower"] <= y <= one["set"]["upper"] for one, y in zip(sets, rows["y"], strict=True))
    assert int(said[1]) == rows["rows"]
    assert abs(int(said[2]) - inside) <= 1  # the band is drawn on a grid
    refused = ada.get(f"/predictors/{server.id('classification')}/figures/band")
    assert (refused.status_code, refused.json()["detail"]) == (
        409,
        "A band is drawn only for one input and one number to predict.",
    )


def test_no_data_no_figure_but_a_reason(server: Server, ada: httpx.Client) -> None:
    dataset = server.calibrations["doomed"].dataset_id
    assert ada.delete(f"/datasets/{dataset}").status_code == 204
    answer = ada.get(f"/predictors/{server.id('doomed')}/figures/sizes")
    assert (answer.status_code, answer.json()["detail"]) == (
        409,
        "The calibration data were deleted, so there is nothing to draw.",
    )
    assert ada.get(f"/predictors/{server.id('doomed')}/figures/monitor").status_code == 200
    assert ada.get(f"/datasets/{dataset}/rows").status_code == 404


def test_progress_is_drawn_from_the_reports() -> None:
    def report(phase: str, fraction: float, **metrics: float | None) -> dict[str, object]:
        return {"phase": phase, "step": 1, "steps": 9, "fraction": fraction, "metrics": metrics}

    first_attempt = [report("tune", 0.1, loss=9.0), report("fit", 0.6, loss=8.0, kl=3.0, budget=4.0)]
    second = [
        report("tune", 0.1, loss=2.0),
        report("tune", 0.3, loss=None),
        report("fit", 0.6, loss=1.0, kl=0.5, budget=6.0),
        report("fit", 0.9, loss=0.5, kl=5.5, budget=6.0),
    ]
    loss, kl = (ElementTree.fromstring(draw([*first_attempt, *second])) for draw in (loss_figure, kl_figure))
    assert words(loss) == "The last loss is 0.5."
    assert words(kl) == "The posterior has spent 5.5 of 6 nats."
    assert len(kl.findall(f".//{SVG}polyline")) == 2
    for draw in (loss_figure, kl_figure):
        ElementTree.fromstring(draw([]))


def test_words_are_escaped_and_numbers_need_not_be_finite() -> None:
    plot = Plot("a < b & c", '"quoted"', "<x>", "y", (0, 0), extent([float("nan"), float("inf")]))
    plot.line([0, 1, 2, 3], [1, float("inf"), 2, 3], BLUE, "<script>")
    plot.points([float("nan")], [1.0], BLUE)
    plot.level(0.5, "<level>")
    plot.place(0.0, "<place>")
    plot.band([0, 1], [0, float("-inf")], [1, 2], BLUE)
    figure = ElementTree.fromstring(plot.svg())
    assert figure.findtext(f"{SVG}title") == "a < b & c"
    assert not figure.findall(f".//{SVG}script")
    assert len(figure.findall(f".//{SVG}polyline")) == 2


@pytest.mark.parametrize(("low", "high"), [(0, 1), (-3.2, 7.9), (1e-9, 2e-9), (0, 12345), (-1e6, 1e6)])
def test_ticks_are_round_and_within(low: float, high: float) -> None:
    found = ticks(low, high)
    assert 3 <= len(found) <= 10
    assert all(low - 1e-9 <= tick <= high + 1e-9 for tick in found)


def test_a_figure_is_as_wide_as_asked_and_carries_its_numbers(server: Server, ada: httpx.Client) -> None:
    path = f"/predictors/{server.id('classification')}/figures/sizes"
    for width in (300, 900):
        figure = drawn(ada, f"{path}?width={width}")
        assert figure.attrib["viewBox"].split()[2] == str(width)
    found = figure.find(f"{SVG}metadata")
    assert found is not None
    told = json.loads(found.text or "")
    assert told["x"] == "size of a set (labels)"
    assert sum(point[1] for point in told["series"][0]["points"]) == pytest.approx(1)
    assert ada.get(f"{path}?width=10").status_code == 422


def test_names_of_lines_do_not_overprint_each_other() -> None:
    plot = Plot("t", "d", "x", "y", (0, 10), (0, 1), width=400)
    for place, label in ((5.0, "mean 1.32"), (5.3, "certified 1.972"), (9.9, "a long name at the edge")):
        plot.place(place, label)
    texts = [text for text in ElementTree.fromstring(plot.svg()).iter(f"{SVG}text") if text.text and " " in text.text]
    boxes = []
    for text in texts:
        wide, at = 6.6 * len(text.text or ""), float(text.attrib["x"])
        left = at - wide if text.attrib["text-anchor"] == "end" else at
        boxes.append((left, left + wide, float(text.attrib["y"])))
        assert left >= 0
        assert left + wide <= 400
    for one, other in itertools.combinations(boxes, 2):
        assert one[1] <= other[0] or other[1] <= one[0] or abs(one[2] - other[2]) >= 12


def test_predictors_of_one_task_are_compared_in_one_figure(server: Server, ada: httpx.Client) -> None:
    ids = f"{server.id('classification')},{server.id('pool')}"
    figure = drawn(ada, f"/figures/compare?predictors={ids}")
    assert len(figure.findall(f".//{SVG}polyline")) == 2
    refused = ada.get(f"/figures/compare?predictors={server.id('classification')},{server.id('regression')}")
    assert refused.status_code == 409
    assert ada.get("/figures/compare?predictors=pred-1").status_code == 422
