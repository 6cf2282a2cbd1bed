"""The loops of a real fit never make the host wait for the device between two reports."""

from collections.abc import Callable

import pytest
import torch

from certiset.core.data.arrays import check_data
from certiset.core.fit.objectives import BatchSampler, size_loss, tuning_loss
from certiset.core.fit.optimizer_options import OptimizerOptions
from certiset.core.fit.options import FitOptions
from certiset.core.fit.rows import Rows, on_device
from certiset.core.fit.scorer import Scorer, make_scorer
from certiset.core.fit.tuning import tune_priors
from certiset.core.models import Model
from certiset.core.posterior.gaussian import fan_in_prior
from certiset.core.posterior.projected import minimise_projected
from tests.core.fit.problems import Arrays, class_data, class_model, toy_data, toy_model
from tests.core.posterior.test_optimizers import HostReads

PROBLEMS = [(toy_model, toy_data), (class_model, class_data)]
problems = pytest.mark.parametrize(("make_model", "make_data"), PROBLEMS, ids=["regression", "classification"])


def prepared(model: Model, data: Arrays) -> tuple[Scorer, Rows]:
    options = FitOptions.read({}).resolved(model.manifest.task)
    rows = on_device(model, check_data(model, *data, allow_missing_classes=False), torch.device("cpu"), torch.float32)
    return make_scorer(model, options, options.chosen_score, tuned=True, features=rows.features.shape[1]), rows


@problems
@pytest.mark.parametrize("objective", ["proper", "size", "mix"])
def test_tuning_does_not_wait(
    make_model: Callable[[], Model], make_data: Callable[[int, int], Arrays], objective: str
) -> None:
    model = make_model()
    scorer, rows = prepared(model, make_data(300, 0))

    def reads(steps: int) -> int:
        options = FitOptions.read({"prior": {"steps": steps}}).resolved(model.manifest.task)
        with HostReads() as mode:
            tune_priors(scorer, rows, options, [objective], torch.Generator().manual_seed(0), first_is_drawn_from=False)
        return sum(mode.count.values())

    assert reads(10) == reads(40)


@problems
def test_the_posterior_step_does_not_wait(
    make_model: Callable[[], Model], make_data: Callable[[int, int], Arrays]
) -> None:
    scorer, rows = prepared(make_model(), make_data(300, 0))
    generator = torch.Generator().manual_seed(0)
    prior = fan_in_prior(scorer.initial(generator), scorer.fan_in(), 0.01)

    def reads(steps: int) -> int:
        loss = size_loss(scorer, BatchSampler(rows, 64, generator), [0.05, 0.07], OptimizerOptions())
        with HostReads() as mode:
            minimise_projected(prior, [1.0, 2.0], loss, steps=steps, draws=2, generator=generator, report_every=1000)
        return sum(mode.count.values())

    assert reads(10) == reads(40)


@problems
def test_losses_are_of_one_number_a_problem(
    make_model: Callable[[], Model], make_data: Callable[[int, int], Arrays]
) -> None:
    scorer, rows = prepared(make_model(), make_data(300, 0))
    sampler = BatchSampler(rows, 64, torch.Generator().manual_seed(0))
    theta = scorer.initial(torch.Generator().manual_seed(1)).expand(3, 2, -1)
    assert size_loss(scorer, sampler, [0.02, 0.05, 0.08], OptimizerOptions())(theta).shape == (3,)
    options = FitOptions.read({}).resolved(scorer.model.manifest.task)
    assert tuning_loss(scorer, sampler, ["proper", "size", "mix"], options)(theta[:, 0]).shape == (3,)
    by_neural_sort = size_loss(scorer, sampler, [0.05] * 3, OptimizerOptions(quantile="neural_sort"))(theta)
    assert torch.isfinite(by_neural_sort).all()
