"""Both optimizers minimise, stay within their budgets, and never wait for the device inside their loops."""

import math
from collections import Counter
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from certiset.core.posterior.augmented_lagrangian import minimise_augmented_lagrangian
from certiset.core.posterior.gaussian import DiagonalGaussian, kl_divergence
from certiset.core.posterior.optimizer import Report, Result
from certiset.core.posterior.projected import minimise_projected

DIMENSION = 20
BUDGETS = [0.5, 2.0, 8.0]

Minimise = Callable[..., Result]


def projected(loss: Callable[[Tensor], Tensor], budgets: list[float] = BUDGETS, **options: Any) -> Result:
    settings = {"steps": 400, "draws": 4} | options
    return minimise_projected(prior(), budgets, loss, generator=torch.Generator().manual_seed(0), **settings)


def lagrangian(loss: Callable[[Tensor], Tensor], budgets: list[float] = BUDGETS, **options: Any) -> Result:
    settings = {"outer": 8, "inner": 250, "draws": 4, "rate": 0.01} | options
    return minimise_augmented_lagrangian(prior(), budgets, loss, generator=torch.Generator().manual_seed(0), **settings)


both = pytest.mark.parametrize("minimise", [projected, lagrangian])


def prior() -> DiagonalGaussian:
    return DiagonalGaussian(torch.zeros(DIMENSION, dtype=torch.float64), torch.full((DIMENSION,), -0.5).double())


def quadratic(theta: Tensor) -> Tensor:
    """Smallest far outside every ball, so that the whole budget is worth spending."""
    return (theta - 3).square().sum(dim=-1).mean(dim=1)


@cache
def solved(minimise: Minimise) -> tuple[Result, list[Report]]:
    """What several tests look at, with its reports."""
    reports: list[Report] = []
    return minimise(quadratic, progress=reports.append), reports


@both
def test_posteriors_are_within_their_budgets_and_use_them(minimise: Minimise) -> None:
    result, _ = solved(minimise)
    divergences = [float(kl_divergence(result.posterior[i], prior())) for i in range(len(BUDGETS))]
    for divergence, stated, budget in zip(divergences, result.kl, BUDGETS, strict=True):
        assert divergence <= budget
        assert divergence == pytest.approx(stated, rel=1e-6)
        assert divergence > 0.8 * budget


def best_possible(budget: float) -> float:
    """The optimum for a linear trade between shift and scale of equal coordinates, by a search over the scale."""
    best = math.inf
    sigma = math.exp(-0.5)
    for spread in torch.linspace(-2, 0.5, 2001).tolist():
        room = 2 * budget / DIMENSION - (math.expm1(2 * spread) - 2 * spread)
        if room >= 0:
            mean = min(3.0, sigma * math.sqrt(room))
            best = min(best, DIMENSION * ((mean - 3) ** 2 + (sigma * math.exp(spread)) ** 2))
    return best


def expected_loss(posterior: DiagonalGaussian) -> float:
    return float(((posterior.mean - 3).square() + (2 * posterior.log_scale).exp()).sum())


@both
def test_the_optimum_is_found(minimise: Minimise) -> None:
    result, _ = solved(minimise)
    for place, budget in enumerate(BUDGETS):
        start, best = expected_loss(prior()), best_possible(budget)
        gained = (start - expected_loss(result.posterior[place])) / (start - best)
        assert gained > 0.9, (place, gained)
        assert gained <= 1 + 1e-3


@both
def test_the_same_seed_gives_the_same_bytes(minimise: Minimise) -> None:
    few = {"steps": 60} if minimise is projected else {"inner": 30, "outer": 3}
    one, two = minimise(quadratic, **few), minimise(quadratic, **few)
    assert torch.equal(one.posterior.mean, two.posterior.mean)
    assert torch.equal(one.posterior.log_scale, two.posterior.log_scale)


@both
def test_a_diverging_loss_keeps_the_prior_and_says_so(minimise: Minimise) -> None:
    result = minimise(lambda theta: theta.sum(dim=-1).mean(dim=1) * math.nan)
    assert result.status == "diverged"
    assert "no longer finite" in result.message
    assert torch.equal(result.posterior[0].mean, prior().mean)
    assert result.kl == [0.0] * len(BUDGETS)


@both
def test_a_stop_is_obeyed_at_the_next_report(minimise: Minimise) -> None:
    reports: list[Report] = []
    result = minimise(quadratic, progress=reports.append, should_stop=lambda: len(reports) >= 2)
    assert result.status == "stopped"
    assert len(reports) == 2
    assert result.kl == [0.0] * len(BUDGETS)


@both
def test_progress_tells_loss_and_divergence_of_every_problem(minimise: Minimise) -> None:
    _, reports = solved(minimise)
    last = reports[-1]
    assert last.step <= last.steps
    assert len(reports) >= 3
    assert len(last.loss) == len(last.kl) == len(last.budget) == len(BUDGETS)
    assert last.loss[2] < reports[0].loss[2]


def test_the_projected_loop_stops_when_the_loss_has_settled() -> None:
    result = projected(quadratic, steps=5000)
    assert result.status == "converged"
    assert result.steps < 5000


class HostReads(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Counts the operations that make the host wait for the device."""

    WAITING = ("_local_scalar_dense", "nonzero", "is_nonzero", "equal")

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.count: Counter[str] = Counter()

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Nothing is compiled here, and loading the compiler, only to keep it away, takes seconds."""
        return False

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = function.overloadpacket.__name__
        if name in self.WAITING:
            self.count[name] += 1
        return function(*args, **(kwargs or {}))


@both
def test_no_step_waits_for_the_device(minimise: Minimise) -> None:
    """The number of host reads must not grow with the number of steps between two reports."""

    def reads(steps: int) -> int:
        options = {"steps": steps} if minimise is projected else {"inner": steps, "outer": 2}
        with HostReads() as mode:
            minimise(quadratic, report_every=10_000, **options)
        return sum(mode.count.values())

    assert reads(20) == reads(60)


def test_the_counter_would_notice_a_host_read() -> None:
    with HostReads() as mode:
        torch.ones(3).sum().item()
    assert sum(mode.count.values()) == 1


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")
@both
def test_no_step_waits_for_cuda(minimise: Minimise) -> None:
    start = DiagonalGaussian(prior().mean.cuda(), prior().log_scale.cuda())
    generator = torch.Generator("cuda").manual_seed(0)
    function: Minimise = minimise_projected if minimise is projected else minimise_augmented_lagrangian
    options = {"steps": 20} if minimise is projected else {"inner": 10, "outer": 1}
    reads = []

    def guarded(theta: Tensor) -> Tensor:
        reads.append(1)
        torch.cuda.set_sync_debug_mode("error" if len(reads) < 5 else "default")
        return quadratic(theta)

    try:
        function(start, BUDGETS, guarded, draws=2, generator=generator, report_every=10_000, **options)
    finally:
        torch.cuda.set_sync_debug_mode("default")
