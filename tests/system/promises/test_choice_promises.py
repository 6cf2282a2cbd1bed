"""Whole fits that choose by revealed rows keep their promise, however badly they choose; those that peek do not."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch

from benchmarks.evidence.promises import chosen_fits
from benchmarks.evidence.promises.family import Tally
from benchmarks.evidence.promises.margin import within_margin
from certiset.core.fit.methods import auto
from tests.system.promises import adversaries

SETS = 300
PROBLEMS = ["pure noise", "waves", "optimal logits"]
"""where tuning learns by heart, where it helps, and where it does nothing"""


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def broken(method: str, problem: str, delta: float) -> list[Tally]:
    options = chosen_fits.chosen_options(method)
    rows = chosen_fits.ROWS[problem]
    return chosen_fits.simulate(runs=SETS, seed=1, problem=problem, rows=rows, delta=delta, options=options)


@pytest.mark.parametrize("delta", [0.05, 0.2])
@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("method", ["auto", "progressive"])
def test_what_is_served_keeps_the_promise_whatever_tuning_does(method: str, problem: str, delta: float) -> None:
    coverage, *sizes = broken(method, problem, delta)
    assert coverage.made == SETS
    assert within_margin(coverage.broken, SETS, delta), coverage
    for tally in sizes:
        assert within_margin(tally.broken, tally.made, delta), tally
    if method == "progressive":
        assert coverage.facts["pools"] == 1.0
    elif problem == "waves":
        assert 0.1 < coverage.facts["pools"] < coverage.facts["tuned"], "the setting must exercise the choice"
    else:
        assert coverage.facts["tuned"] < 0.5


@pytest.mark.parametrize("problem", ["pure noise", "waves"])
def test_whoever_takes_the_worst_way_by_revealed_rows_keeps_it_too(
    problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(auto, "best_way", adversaries.worst_way)
    coverage, *_ = broken("auto", problem, 0.2)
    assert coverage.facts["tuned"] > 0.5
    assert 0.05 < coverage.facts["pools"] < 0.95, "it stops and goes on, as the digits say"
    assert within_margin(coverage.broken, SETS, 0.2), coverage


@pytest.mark.parametrize(
    ("rule", "keeps"),
    [
        (adversaries.looks_worst_on_revealed_rows, True),
        (adversaries.has_the_smallest_sets_where_it_is_calibrated, False),
    ],
)
def test_among_random_heads_the_worst_may_be_taken_unless_one_peeks(
    rule: Callable[..., int], keeps: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(auto.Auto, "run", adversaries.picks_a_head(rule))
    options: dict[str, Any] = chosen_fits.chosen_options("auto")
    coverage, *_ = chosen_fits.simulate(runs=SETS, seed=2, problem="pure noise", rows=400, delta=0.2, options=options)
    assert within_margin(coverage.broken, SETS, 0.2) == keeps, coverage
