"""Means, the better of two settings, and how often coverage fell short."""

from typing import Any

import pytest

from benchmarks.evidence.summary import (
    average,
    best,
    drawn_table,
    missed,
    size_rows,
    standings,
    standings_table,
    strictest,
    table,
)


def run(
    method: str,
    size: float,
    *,
    n: int = 100,
    split: float = 0.5,
    seed: int = 0,
    coverage: float = 0.95,
    choice: str = "",
) -> dict[str, Any]:
    return {
        "method": method,
        "n": n,
        "split": split,
        "seed": seed,
        "choice": choice,
        "size": size,
        "coverage": coverage,
        "log_radius": None,
        "certified_size": 2 * size,
        "cpu_seconds": 1.0,
    }


RUNS = [
    run("learned_2b_paper", 3.0),
    run("learned_2b_paper", 2.0, seed=1),
    run("learned_2b_tuned", 2.0, coverage=0.89),
    run("learned_2b_tuned", 2.2, seed=1),
    run("learned_2b_tuned", 1.9, split=0.25),
    run("ours", 1.5),
]


def test_the_better_setting_counts() -> None:
    one = best(RUNS, "learned_2b", n=100, split=0.5)
    assert one is not None
    assert (one.settings, one.count) == ("tuned", 2)
    assert one.size == pytest.approx(2.1)
    assert one.error == pytest.approx(0.1)
    assert one.certified_size == pytest.approx(4.2)
    assert best(RUNS, "paper", n=100) is None
    assert average([]) is None


def test_runs_below_are_counted_over_all_settings() -> None:
    assert missed(RUNS, ("learned_2b", "ours", "paper")) == {"learned_2b": (1, 5), "ours": (0, 1)}


def test_a_table_says_what_was_not_possible() -> None:
    rows = size_rows(RUNS, ("ours", "paper"), (100, 200), lambda one: f"{one.size:.1f}", split=0.5)
    assert rows == [
        ["ours (auto)", "1.5", "not possible"],
        ["PAC-Bayes, the paper's bound", "not possible", "not possible"],
    ]
    assert table(["a", "b"], [["1", "2"]]) == "| a | b |\n|---|---|\n| 1 | 2 |\n"


def test_methods_without_a_split_count_at_every_split() -> None:
    for method in ("standard_2b", "ours", "drawn"):
        alone = run(method, 2.0)
        del alone["split"]
        found = best([alone], method, n=100, split=0.25)
        assert found is not None
        assert found.size == 2.0
    assert best(RUNS, "learned_2b", n=100, split=0.75) is None


def test_a_ratio_is_taken_on_shared_seeds_against_the_hardest_rival() -> None:
    runs = [run("ours", size, seed=seed) for seed, size in enumerate((1.0, 2.0, 3.0))]
    runs += [run("paper_paper", 2.0, seed=0), run("paper_paper", 3.0, seed=0, split=0.25)]
    runs += [run("paper_tuned", size, seed=seed) for seed, size in enumerate((2.0, 2.0, 4.0))]
    one = strictest(runs, ("paper_paper", "paper_tuned"), (0.25, 0.5), 100)
    assert one is not None
    assert one.ratio == pytest.approx(6 / 8)
    assert (one.settings, one.split) == ("tuned", 0.5)
    alone = strictest(runs, ("paper_paper",), (0.25, 0.5), 100)
    assert alone is not None
    assert alone.ratio == pytest.approx(1 / 2)
    assert strictest(runs, ("learned_2b_paper",), (0.5,), 100) is None


def test_ours_stands_beside_the_standard_method_on_the_same_seeds() -> None:
    runs = [run("ours", 1.5, choice="as given"), run("ours", 2.5, seed=1, choice="head") | {"fresh_size": 2.6}]
    runs += [run("standard_2b", 2.0), run("standard_2b", 3.0, seed=1), run("learned_proper", 2.0)]
    (one,) = standings(runs)
    assert one.ratio == pytest.approx(0.8)
    assert one.certified == pytest.approx(2.0)
    assert one.fresh == pytest.approx(2.6 / 2.5), "only over runs that have one"
    assert one.choices == {"as given": 1, "head": 1}
    assert one.learned_cpu == 1.0
    assert "| 100 | 2 | 2.5 ± 0.5 | 2 ± 0.5 | **0.800** | 2.00 | 1.04 | 1.0 | 1.0 |" in standings_table(runs)


def test_what_was_drawn_is_shown_with_its_budget() -> None:
    runs = [run("drawn", 2.0, seed=seed) | {"members": 32, "kl": 1.0 + seed, "kl_budget": 4.0} for seed in (0, 1)]
    assert "| 100 | 2 | 32 | 1.50 | 4.00 | 2.00 ± 0.00 |" in drawn_table(runs)


def test_settings_may_differ_from_measure_to_measure() -> None:
    runs = [run("learned_2b_paper", 3.0) | {"log_radius": -0.9}, run("learned_2b_tuned", 2.0) | {"log_radius": -0.5}]
    by_size, by_radius = best(runs, "learned_2b"), best(runs, "learned_2b", "log_radius")
    assert by_size is not None
    assert by_radius is not None
    assert (by_size.settings, by_radius.settings) == ("tuned", "paper")
