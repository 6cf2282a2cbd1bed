"""The baselines keep the promise that they make, at the rank that the theory gives them."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.evidence.baselines import Baseline, BaselineOptions, dropout_settings, paper_settings, tuned_settings
from benchmarks.evidence.measurements import Measured
from benchmarks.evidence.ours import drawn, learned, ours, standard
from certiset.core.bounds import largest_rank
from certiset.core.posterior.augmented_lagrangian import minimise_augmented_lagrangian
from tests.benchmarks.problems import classes, intervals
from tests.core.fit.problems import class_data


def quick(settings: BaselineOptions, steps: int = 30) -> BaselineOptions:
    prior, optimizer = {**settings.prior, "steps": steps}, {**settings.optimizer, "steps": steps}
    return replace(settings, prior=prior, optimizer=optimizer | ({"outer": 2} if "outer" in optimizer else {}))


@pytest.mark.parametrize("problem", [classes(600), intervals(600)], ids=["classes", "intervals"])
@pytest.mark.parametrize("settings", [tuned_settings(), dropout_settings()], ids=["tuned", "dropout"])
def test_the_learned_baseline_has_vovks_rank(problem, settings) -> None:  # type: ignore[no-untyped-def]
    baseline = Baseline(problem, 0.5, 0, quick(settings))
    (exact,), (hoeffding,) = baseline.learned("2b"), baseline.learned("2a")
    assert exact.level == largest_rank(300, 0.1, 0.05, bound="per_draw") / 301
    assert hoeffding.level < exact.level
    assert hoeffding.size >= exact.size
    assert exact.method == f"learned_2b_{settings.name}"


def test_where_points_are_too_few_there_is_nothing() -> None:
    baseline = Baseline(intervals(60), 0.5, 0, quick(tuned_settings()))
    assert baseline.learned("2a") == []
    assert baseline.learned("2b") != []
    assert baseline.pac_bayes() == []
    assert [one.method for one in standard(intervals(60), 0)] == ["standard_2b"]
    assert drawn(intervals(60), 0) == []


def test_the_papers_method_spends_no_more_than_its_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    budgets: list[float] = []

    def watched(prior, given, *args, **options):  # type: ignore[no-untyped-def]
        budgets.extend(given)
        return minimise_augmented_lagrangian(prior, given, *args, **options)

    monkeypatch.setattr("certiset.core.fit.candidates.minimise_augmented_lagrangian", watched)
    (found,) = Baseline(classes(3000), 0.5, 0, quick(paper_settings(regression=False))).pac_bayes()
    assert budgets
    assert 0 <= found.kl <= max(budgets) + 1e-6
    assert found.level <= 0.08
    assert found.members == 32
    assert found.certified_size is not None
    assert found.certified_size >= found.size


def test_with_nothing_tuned_all_points_calibrate() -> None:
    settings = quick(tuned_settings())
    settings.prior["train"] = "none"
    baseline = Baseline(classes(500), 0.5, 0, settings)
    assert baseline.n == 500
    assert len(baseline.pac_bayes()) == 1


def test_the_same_seed_gives_the_same_run() -> None:
    def once() -> Measured:
        (found,) = Baseline(classes(600), 0.5, 3, quick(tuned_settings())).learned("2b")
        return replace(found, cpu_seconds=0.0)

    assert once() == once()


def test_group_coverage_adds_up_to_coverage() -> None:
    for problem in (classes(400), intervals(400)):
        found = ours(problem, 0, prior={"steps": 30})
        counts = np.bincount(problem.groups())
        assert len(found.group_coverage) == len(counts)
        assert np.dot(found.group_coverage, counts) / counts.sum() == pytest.approx(found.coverage)
        assert (found.log_radius is not None) == problem.regression


def test_learned_by_a_proper_score_has_vovks_rank() -> None:
    found = learned(classes(600), 0, 0.5)
    assert found.method == "learned_proper"
    assert found.level == largest_rank(300, 0.1, 0.05, bound="per_draw") / 301
    assert found.kl_budget is None


def test_ours_says_what_it_chose_and_certifies_on_fresh_inputs() -> None:
    problem = classes(1000)
    found = ours(replace(problem, fresh=class_data(2000, seed=300)[0]), 0)
    assert found.choice.split(",")[0] in ("as given", "head")
    assert found.certified_size is not None
    assert found.fresh_size is not None
    assert found.fresh_size < found.certified_size


def test_what_is_drawn_has_a_budget() -> None:
    (found,) = drawn(classes(2000), 0)
    assert found.members == 32
    assert found.kl_budget is not None
    assert 0 <= found.kl <= found.kl_budget
