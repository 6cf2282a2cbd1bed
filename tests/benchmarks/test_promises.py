"""The simulation of the promises: what counts as broken, how parts add up, and whether its truths are true."""

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.evidence.experiments import page
from benchmarks.evidence.promises import FAMILIES, cells, work
from benchmarks.evidence.promises.alarms import alarms, latest_alarms
from benchmarks.evidence.promises.covariate_shift import SHIFTS
from benchmarks.evidence.promises.family import CHAPTERS
from benchmarks.evidence.promises.margin import CHANCE, most_broken, p_value, within_margin
from benchmarks.evidence.promises.tiny_problems import PROBLEMS, TOLERANCE
from benchmarks.evidence.promises_report import totals
from benchmarks.evidence.sweep import sweep
from certiset.core.bounds import Supermartingale
from certiset.core.fit import fit

CHEAP = ("exact_rank", "pool")


def run(broken: int, made: int = 1000, **changes: Any) -> dict[str, Any]:
    found = {"family": "exact_rank", "case": "a case", "statement": "it holds", "level": 0.05, "promised": True}
    return found | {"broken": broken, "made": made, "facts": {"missed": 0.1}} | changes


def result(*runs: dict[str, Any]) -> dict[str, Any]:
    stated = {"experiment": "promises", "command": "certiset reproduce promises", "cpu_seconds": 1.0, "seeds": [0]}
    return stated | {"versions": {"python": "3"}, "runs": list(runs)}


def test_every_family_has_a_chapter_and_cases_that_can_be_told_apart() -> None:
    for family in FAMILIES.values():
        assert family.chapter in CHAPTERS
        told = [(case.name, json.dumps(case.settings, sort_keys=True)) for case in family.cases]
        assert len(set(told)) == len(told)
        assert all(case.runs % case.parts == 0 for case in family.cases)
    seeds = [(cell["family"], cell["seed"]) for cell in cells(quick=False)]
    assert len(set(seeds)) == len(seeds)


def test_a_quick_sweep_of_some_families_is_resumed_and_becomes_a_page(tmp_path: Path) -> None:
    chosen = cells(quick=True, families=CHEAP)
    first = sweep("promises-quick", chosen, work, tmp_path, 1, io.StringIO())
    again = sweep("promises-quick", chosen, work, tmp_path, 1, said := io.StringIO())
    assert again.runs == first.runs
    assert f"{len(chosen)} of {len(chosen)} runs were done before" in said.getvalue()
    text = page(result(*first.runs), tmp_path)
    assert "None of them was broken more often than it may be." in text
    assert text.count("\n### ") == len(CHEAP)
    assert (tmp_path / "promises" / "shares.svg").is_file()
    assert "alpha = 0.1, delta = 0.05." not in text.partition("\n\n## ")[0], "levels differ from case to case"


def test_a_promise_that_is_broken_too_often_is_called_so(tmp_path: Path) -> None:
    most = most_broken(1000, 0.05)
    kept = page(result(run(most), run(1000, promised=False, case="a comparison")), tmp_path)
    assert "None of them was broken" in kept
    assert "| a comparison | 0.05 | 1,000 | 1,000 | 1.000 |" in kept
    broken = page(result(run(most + 1)), tmp_path)
    assert "**1 of them were broken more often than they may be**: a case." in broken
    assert f"**{most + 1}**" in broken


def test_the_margin_is_a_one_sided_binomial_test() -> None:
    for runs, level in ((200, 0.2), (1000, 0.05), (20_000, 0.01)):
        most = most_broken(runs, level)
        assert within_margin(most, runs, level)
        assert not within_margin(most + 1, runs, level)
        assert p_value(most + 1, runs, level) <= CHANCE < p_value(most, runs, level)
    assert p_value(0, 100, 0.1) == 1


def test_the_parts_of_a_case_add_up() -> None:
    parts = [run(3, 100), run(5, 300, facts={"missed": 0.2}), run(7, 100, level=0.2)]
    one, other = totals(parts)
    assert (one.made, one.broken, one.share) == (400, 8, 0.02)
    assert one.facts["missed"] == pytest.approx(0.175)
    assert (other.made, other.broken) == (100, 7)


@pytest.mark.parametrize("eta", [0.01, 0.3])
def test_alarms_of_many_streams_are_those_of_the_monitor(eta: float) -> None:
    rng = np.random.default_rng(0)
    missed = rng.random((60, 400)) < rng.choice([0.05, 0.1, 0.2], size=(60, 1))
    found = [Supermartingale(0.1).update_many(row).contradicted(eta) for row in missed]
    assert 0 < sum(found) < 60
    assert alarms(missed, 0.1, eta) == sum(found)
    latest = latest_alarms(0.1, eta, 400)
    for misses in (5, 20, 40):
        at = int(latest[misses])
        assert Supermartingale(0.1, outcomes=at, misses=misses).contradicted(eta)
        assert not Supermartingale(0.1, outcomes=at + 1, misses=misses).contradicted(eta)


OPTIONS: dict[str, dict[str, Any]] = {
    "sensor": {"score": "residual", "method": "standard"},
    "growing noise": {"method": "learned", "prior": {"steps": 10, "objective": "proper"}},
    "classes": {"method": "learned", "prior": {"steps": 10, "objective": "proper"}},
    "logits": {"method": "standard"},
    "optimal logits": {"method": "standard"},
    "pure noise": {"method": "learned", "prior": {"steps": 10}},
    "waves": {"method": "learned", "prior": {"steps": 10, "rate": 0.2}},
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_true_coverage_of_a_tiny_problem_is_that_of_many_test_points(name: str) -> None:
    problem, rng, points = PROBLEMS[name](), np.random.default_rng(1), 40_000
    predictor = fit(problem.model, *problem.draw(200, rng), alpha=0.2, delta=0.2, **OPTIONS[name])
    x, y = problem.draw(points, rng)
    sets = predictor.predict_set(x, member=0)
    assert problem.missed(predictor, 0) == pytest.approx(
        1 - sets.contains(y).mean(), abs=TOLERANCE + 4 * (0.16 / points) ** 0.5
    )
    mean, spread = float(problem.weights @ problem.sizes(predictor, 0)), float(np.std(sets.size))
    assert mean == pytest.approx(float(np.mean(sets.size)), abs=4 * spread / points**0.5 + 1e-3)


@pytest.mark.parametrize("name", SHIFTS)
def test_what_a_threshold_misses_on_a_shifted_population_is_that_of_many_rows_from_it(name: str) -> None:
    law, rng, rows = SHIFTS[name], np.random.default_rng(2), 200_000
    x, u = 1 - rng.random(rows), rng.random(rows)
    weights = law.weights(x)
    if law.bound is None:
        x, weights = x**10, np.ones(rows)  # drawn from the target itself, since weights without a bound are too uneven
    else:
        assert weights.max() <= law.bound
    scores = law.score(x, u)
    for tau in np.quantile(scores, [0.3, 0.8, 0.95]):
        found = float(weights @ (scores > tau) / weights.sum())
        assert law.missed(float(tau)) == pytest.approx(found, abs=4 * (0.25 * 5 / rows) ** 0.5)
