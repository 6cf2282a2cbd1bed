"""Members drawn from a posterior, always; where there is no budget for one, an error that says what would leave one."""

import re
from typing import Any

import numpy as np
import pytest
import torch

from certiset.core.bounds import TooFewPointsError, per_draw_budget
from certiset.core.bounds.domain import Ints
from certiset.core.certificate.guarantees.per_draw import PER_DRAW
from certiset.core.errors import FitError
from certiset.core.fit import fit
from certiset.core.fit.methods import METHODS, pac_bayes
from certiset.core.fit.options import FitOptions
from certiset.core.fit.plan import Plan
from tests.core.fit.problems import QUICK, class_data, class_model, toy_data, toy_model


@pytest.mark.parametrize("guarantee", ["per_draw", "posterior"])
@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("rows", [400, 900])
def test_as_many_pairs_as_asked_for_are_served_each_drawn_from_the_posterior(
    task: str, guarantee: Any, rows: int
) -> None:
    model, make = (class_model(), class_data) if task == "classification" else (toy_model(), toy_data)
    predictor = fit(model, *make(rows, 0), method="pac_bayes", guarantee=guarantee, **QUICK)
    certificate = predictor.certificate
    assert predictor.members == QUICK["members"] == certificate.coverage.draws
    assert len(np.unique(predictor.theta.numpy(), axis=0)) == predictor.members
    assert len({member.tau for member in certificate.members}) == predictor.members
    assert certificate.coverage.kl_budget is not None
    assert 0 < certificate.coverage.kl <= certificate.coverage.kl_budget
    assert any(member.log_ratio != 0 for member in certificate.members)
    assert certificate.coverage.guarantee == guarantee
    assert certificate.verify().valid
    taken = certificate.coverage.union
    assert taken.choices[taken.taken].startswith("posterior step at alpha_hat = ")


def plan_of(rows: int, unit: str = "rows", **options: Any) -> Plan:
    method = METHODS["pac_bayes"]
    asked = FitOptions.read({"method": "pac_bayes", **options})
    return method.plan(asked.resolved("classification", method.guarantee_of(asked)), rows, unit)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"members": 1},
        {"alpha": 0.01},
        {"delta": 0.001},
        {"guarantee": "posterior"},
        {"guarantee": "posterior", "bound": "seeger", "members": 8},
        {"prior": {"split": 0.9}},
        {"prior": {"train": "none"}},
        {"alpha_hat": [0.05, 0.09]},
        {"family": 10},
    ],
    ids=str,
)
@pytest.mark.parametrize("rows", [1, 3, 40, 100])
def test_without_a_budget_the_error_says_how_many_rows_or_which_alpha_would_leave_one(
    rows: int, options: dict[str, Any]
) -> None:
    try:
        plan_of(rows, **options)
    except TooFewPointsError as refused:
        words = str(refused)
    else:
        pytest.skip("these rows leave a budget")
    assert words.startswith(f"{rows} rows leave no nats for a posterior at alpha = ")
    enough = re.search(r"members: (\d+) rows would", words)
    assert enough
    assert plan_of(int(enough[1]), **options).steps
    larger = re.search(r"or alpha = ([\d.]+) with these", words)
    if larger:
        alpha = float(larger[1])
        levels = {} if "alpha_hat" not in options else {"alpha_hat": [v * alpha / 0.1 for v in options["alpha_hat"]]}
        assert plan_of(rows, **(options | {"alpha": alpha} | levels)).steps


def test_it_counts_what_is_counted_and_names_the_methods_that_need_less() -> None:
    with pytest.raises(TooFewPointsError, match=r"50 clusters leave .* \d+ clusters would") as refused:
        plan_of(50, "clusters")
    assert "methods learned and standard need no posterior" in str(refused.value)
    assert refused.value.needed > 50


def test_where_no_number_of_rows_would_do_it_says_so() -> None:
    with pytest.raises(TooFewPointsError, match="no number of rows would"):
        plan_of(100, alpha=0.1, alpha_hat=[0.1])


def test_spare_draws_stand_in_for_those_that_may_not_be_served(monkeypatch: pytest.MonkeyPatch) -> None:
    rank_of_all = PER_DRAW.ranks

    def without_two(*args: Any) -> Ints:
        ranks = rank_of_all(*args)
        ranks[[0, 5]] = 0
        return ranks

    options: dict[str, Any] = {**QUICK, "members": 32, "method": "pac_bayes"}
    usual = fit(class_model(), *class_data(600, 0), **options)
    monkeypatch.setattr(PER_DRAW, "ranks", without_two)
    predictor = fit(class_model(), *class_data(600, 0), **options)
    assert predictor.members == usual.members == 32
    # Each of the two is the next one of the usual members, or a spare.
    kept = [place for place in range(32) if place not in (0, 5)]
    assert torch.equal(predictor.theta[:30], usual.theta[kept])
    for certificate in (usual.certificate, predictor.certificate):
        assert certificate.coverage.draws == 34
        assert certificate.verify().valid


@pytest.mark.parametrize(("members", "draws"), [(1, 1), (15, 15), (16, 17), (32, 34), (1000, 1062)], ids=str)
def test_spare_draws_are_paid_for_and_cost_next_to_nothing(members: int, draws: int) -> None:
    assert PER_DRAW.draws(members) == draws
    assert np.log(draws / members) <= 0.061
    found = PER_DRAW.step(500, 0.1, 0.02, 0.04, members)
    assert found is not None
    assert found.budget == per_draw_budget(500, found.k, 0.1, 0.02, 0.7, draws)


def test_nothing_else_is_certified_where_no_draw_may_be_served(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pac_bayes, "posterior_candidate", lambda *_: None)
    with pytest.raises(FitError, match="No draw from a posterior stayed within its budget"):
        fit(class_model(), *class_data(600, 0), method="pac_bayes", **QUICK)


def test_every_level_of_the_plan_has_its_share_of_delta() -> None:
    for rows in (400, 600, 3000):
        plan = plan_of(rows)
        assert plan.steps
        assert len(plan.choices) == len(plan.weights) == len(plan.steps)
        assert sum(plan.delta(place) for place in range(len(plan.steps))) == pytest.approx(0.05)
        assert all(step.target > 0 for step in plan.steps)
