"""Serving the best member alone: free where each member keeps the promise, refused where only their mean does."""

import numpy as np
import pytest

from certiset.core.errors import OptionError
from certiset.core.fit import Predictor, fit
from certiset.core.fit.fitting import check
from certiset.core.fit.options import FitOptions
from certiset.core.fit.serving_choice import check_best_is_promised
from tests.core.fit.problems import QUICK, STEPS_PAY, class_data, class_model, shifted_logits, shifted_logits_model


@pytest.fixture(scope="module")
def all_members() -> Predictor:
    return fit(shifted_logits_model(), *shifted_logits(3000, 8), **STEPS_PAY)


@pytest.fixture(scope="module")
def best() -> Predictor:
    return fit(shifted_logits_model(), *shifted_logits(3000, 8), serve="best", **STEPS_PAY)


def test_the_best_member_is_the_one_of_the_smallest_certified_size(all_members: Predictor, best: Predictor) -> None:
    assert all_members.members > 1
    assert best.members == 1
    everyone = all_members.certificate.members
    chosen = min(everyone, key=lambda member: member.efficiency_bound or np.inf)
    (alone,) = best.certificate.members
    for name in (
        "k",
        "tau",
        "log_ratio",
        "efficiency_bound",
        "efficiency_empirical",
        "size_k",
        "size_quantile",
        "distance",
    ):
        assert getattr(alone, name) == getattr(chosen, name), name
    assert best.certificate.efficiency.upper_bound == chosen.efficiency_bound
    assert (best.certificate.efficiency.upper_bound or 0) < (all_members.certificate.efficiency.upper_bound or 0)
    x = shifted_logits(200, 3)[0]
    assert best.predict_set(x).to_json() == all_members.predict_set(x, member=chosen.member).to_json()


def test_all_draws_stay_paid_for(all_members: Predictor, best: Predictor) -> None:
    """The bounds of all members hold at once, so that choosing among them is free: as long as all were counted."""
    assert best.certificate.coverage.draws == all_members.certificate.coverage.draws == 8
    assert best.certificate.verify().valid
    assert "the stored member, chosen among 8 that were drawn, gives sets that" in best.certificate.statement


def test_a_single_member_is_its_own_best() -> None:
    point = fit(class_model(), *class_data(600, 0), method="learned", **QUICK, serve="best")
    plain = fit(class_model(), *class_data(600, 0), method="learned", **QUICK)
    assert point.certificate.members == plain.certificate.members
    assert point.certificate.statement == plain.certificate.statement
    assert point.certificate.verify().valid


@pytest.mark.parametrize("guarantee", ["posterior", "pool"])
def test_a_promise_for_the_mean_is_not_one_for_the_best(guarantee: str) -> None:
    with pytest.raises(OptionError, match=f"guarantee {guarantee} is for the mean over all of them") as refused:
        check_best_is_promised(guarantee)
    assert refused.value.field == "serve"
    check_best_is_promised("per_draw")


def test_it_is_refused_before_any_work_is_done() -> None:
    with pytest.raises(OptionError, match="one alone may miss more") as refused:
        check(class_model(), *class_data(600, 0), method="pac_bayes", guarantee="posterior", serve="best")
    assert refused.value.field == "serve"
    with pytest.raises(OptionError, match="guarantee pool is for the mean over all of them") as refused:
        check(class_model(), *class_data(600, 0), method="progressive", serve="best")
    assert refused.value.field == "serve"
    with pytest.raises(OptionError):
        FitOptions.read({"serve": "worst"})
    assert FitOptions.read({"guarantee": "posterior"}).serve == "random"
