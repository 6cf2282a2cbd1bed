"""The Grafana dashboard: every query names metrics that /metrics has, by real HTTP."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.service.server import Server

DASHBOARD: dict[str, Any] = json.loads((Path(__file__).parents[3] / "deploy" / "grafana" / "certiset.json").read_text())
_SUFFIXES = {"counter": ("_total",), "gauge": ("",), "histogram": ("_bucket", "_sum", "_count")}


def queries() -> list[str]:
    asked = [target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]]
    return asked + [one["definition"] for one in DASHBOARD["templating"]["list"] if "definition" in one]


@pytest.fixture(name="series", scope="module")
def series_(server: Server) -> set[str]:
    """Every name that a query may use."""
    with server.client("operator") as client:
        text = client.get("/metrics").raise_for_status().text
    families = list(text_string_to_metric_families(text))
    return {family.name + suffix for family in families for suffix in _SUFFIXES.get(family.type, ())}


@pytest.mark.parametrize("query", queries())
def test_every_query_names_metrics_that_there_are(query: str, series: set[str]) -> None:
    named = set(re.findall(r"\bcertiset_\w+", query))
    assert named
    assert named <= series


def test_panels_show_what_an_operator_asks_for() -> None:
    shown = " ".join(queries())
    for metric in (
        "certiset_requests_total",
        "certiset_request_seconds_bucket",
        "certiset_rows_total",
        "certiset_queue_age_seconds",
        "certiset_calibrations",
        "certiset_fit_seconds_bucket",
        "certiset_contradicted_certificates",
        "certiset_confined_process_deaths_total",
        "certiset_fit_deaths_last_hour",
        "certiset_refused_requests_total",
    ):
        assert metric in shown


def test_panels_are_numbered_described_and_do_not_overlap() -> None:
    panels = DASHBOARD["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    taken: set[tuple[int, int]] = set()
    for panel in panels:
        assert panel["title"]
        assert panel["description"]
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24
        columns, rows = (range(place[at], place[at] + place[size]) for at, size in (("x", "w"), ("y", "h")))
        cells = {(x, y) for x in columns for y in rows}
        assert not taken & cells
        taken |= cells


def test_the_source_of_data_is_chosen_by_whoever_imports_it() -> None:
    for panel in DASHBOARD["panels"]:
        assert panel["datasource"] == {"type": "prometheus", "uid": "${datasource}"}
    assert [one["name"] for one in DASHBOARD["templating"]["list"]] == ["datasource", "instance"]
