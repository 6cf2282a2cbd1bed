"""Tuned on D_0, and the whole of delta on one rank."""

from typing import Any

import pytest
import torch

from certiset.core.bounds import vovk_2b
from certiset.core.fit import fit
from tests.core.fit.problems import class_data, class_model, toy_data, toy_model

STEPS: Any = {"steps": 10}


@pytest.mark.parametrize("split", [None, 0.2, 0.75])
@pytest.mark.parametrize(("alpha", "delta"), [(0.1, 0.05), (0.2, 0.2)])
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_the_rank_is_vovk_2b_with_the_whole_of_delta(
    task: str, alpha: float, delta: float, split: float | None
) -> None:
    model, make = (class_model(), class_data) if task == "classification" else (toy_model(), toy_data)
    prior: Any = {"split": split, **STEPS}
    predictor = fit(model, *make(400, 0), method="learned", alpha=alpha, delta=delta, prior=prior)
    coverage, tuned = predictor.certificate.coverage, int((0.5 if split is None else split) * 400)
    assert (predictor.certificate.provenance.n_tune, coverage.n) == (tuned, 400 - tuned)
    assert coverage.k == vovk_2b(400 - tuned, alpha, delta)
    assert (coverage.union.choices, coverage.union.weights) == (["tuned on D_0"], [1.0])
    assert (coverage.guarantee, coverage.bound, coverage.kl) == ("per_draw", "vovk_2b", 0.0)
    assert predictor.members == 1


def test_planned_attempts_share_it() -> None:
    certificate = fit(class_model(), *class_data(600, 0), method="learned", family=5, prior=STEPS).certificate
    assert certificate.coverage.k == vovk_2b(300, 0.1, 0.01)


def test_it_is_tuned_by_a_proper_score_unless_another_objective_is_named() -> None:
    asked = [{}, {"objective": "proper"}, {"objective": "size"}]
    found = [fit(class_model(), *class_data(400, 0), method="learned", prior=STEPS | prior) for prior in asked]
    assert torch.equal(found[0].theta, found[1].theta)
    assert not torch.equal(found[0].theta, found[2].theta)
    given = class_model().head_parameters
    assert all(not torch.equal(predictor.theta[0], given) for predictor in found)
