"""Every number against a second implementation in 50 digits, over random arguments of the whole promised range."""

from dataclasses import dataclass

import numpy as np
import pytest
from mpmath import mp, mpf

from certiset.core.bounds import (
    beta_log_density,
    beta_tail,
    binary_kl,
    efficiency_bound,
    kl_budget,
    kl_inverse,
    kl_inverse_of_mean,
    miscoverage_bound,
    per_draw_budget,
)
from certiset.core.bounds.chernoff import _tilt_of_prior
from tests.core.bounds import reference
from tests.core.bounds.arrays import ints, reals

RELATIVE = 1e-9
CASES = 600
PARTS = 12


@dataclass(frozen=True)
class Case:
    n: int
    k: int
    alpha: float
    delta: float
    kl: float


def random_case(seed: int) -> Case:
    """n, alpha, delta log-uniform over the whole range; ranks around n alpha, where the action is, and anywhere."""
    rng = np.random.default_rng([2023, seed])
    n = round(float(np.exp(rng.uniform(np.log(2), np.log(1e8)))))
    alpha = float(np.exp(rng.uniform(np.log(1e-6), np.log(0.5))))
    delta = float(np.exp(rng.uniform(np.log(1e-15), np.log(0.5))))
    near = n * alpha + 4 * rng.normal() * np.sqrt(n * alpha)
    choices = [rng.uniform(0, 1.1) * n * alpha, near, rng.integers(1, n + 1), 1]
    k = int(np.clip(round(float(choices[rng.choice(4, p=[0.5, 0.3, 0.15, 0.05])])), 1, n))
    return Case(n, k, alpha, delta, float(10 ** rng.uniform(-6, 6)) * (rng.random() < 0.9))


def agrees(found: object, expected: mpf) -> bool:
    """To 1e-9 of the value; a log-probability below the reference's own last digits counts as 0."""
    if abs(expected) < mpf(10) ** -30:
        return bool(abs(mpf(found)) < mpf(10) ** -30)
    return bool(abs(mpf(found) - expected) <= RELATIVE * abs(expected))


@pytest.mark.parametrize("part", range(PARTS))
def test_coverage_bounds_agree_to_nine_digits(part: int) -> None:
    for seed in range(part, CASES, PARTS):
        case = random_case(seed)
        n, k, alpha, delta = case.n, case.k, case.alpha, case.delta
        tail = reference.log_tail(n, k, alpha)
        assert agrees(beta_tail(n, k, alpha, log=True), tail), case
        assert agrees(per_draw_budget(n, k, alpha, delta), mp.log(delta) - tail), case
        assert agrees(beta_log_density(n, k, alpha), reference.log_density(n, k, mpf(alpha))), case
        assert agrees(kl_budget(n, k, alpha, delta, "seeger"), reference.seeger_budget(n, k, alpha, delta)), case
        rate, tilt = reference.chernoff_rate(n, k, alpha)
        assert agrees(kl_budget(n, k, alpha, delta, "chernoff"), rate + mp.log(delta)), case
        assert agrees(
            miscoverage_bound(n, k, delta, case.kl, "seeger"), reference.seeger_bound(n, k, delta, case.kl)
        ), case
        if rate + mp.log(delta) >= 0:
            expected = min(mpf(1), alpha + (case.kl - mp.log(delta) - rate) / tilt)
            assert agrees(miscoverage_bound(n, k, delta, case.kl, "chernoff", alpha), expected), case


@pytest.mark.parametrize("seed", range(40))
def test_chernoff_without_an_aim_is_the_bound_at_the_lambda_that_suits_the_prior(seed: int) -> None:
    """lambda depends on (n, k, delta) only; the promise must be the theorem's at that lambda, and 0 nats of budget."""
    case = random_case(seed)
    n, k = ints(case.n), ints(case.k)
    tilt, level = _tilt_of_prior(n, k, reals(case.delta))
    if level > 1 - 1e-6:
        return  # everything is promised there
    log_m, _slope, _curvature = reference.log_moments(case.n, case.k, mpf(float(tilt)))
    for kl in (0.0, 3.0):
        expected = min(mpf(1), (kl + log_m - mp.log(case.delta)) / mpf(float(tilt)))
        assert agrees(miscoverage_bound(case.n, case.k, case.delta, kl, "chernoff"), expected), case
    promised = float(miscoverage_bound(case.n, case.k, case.delta, 0.0, "chernoff"))
    assert kl_budget(case.n, case.k, promised, case.delta, "chernoff") == pytest.approx(0.0, abs=1e-6)


def test_divergences_and_their_inverses_agree_to_nine_digits() -> None:
    rng = np.random.default_rng(2024)
    for _ in range(500):
        p, q = (_unit(rng) for _ in range(2))
        c = float(10 ** rng.uniform(-16, 3))
        assert agrees(binary_kl(p, q), reference.binary_kl(p, q)), (p, q)
        assert agrees(kl_inverse(p, c), reference.kl_inverse(p, c)), (p, c)
        assert agrees(kl_inverse_of_mean(p, c), reference.kl_inverse_of_mean(p, c)), (p, c)


def test_divergence_between_almost_equal_coins_keeps_its_digits() -> None:
    rng = np.random.default_rng(2025)
    for _ in range(500):
        p = _unit(rng)
        q = float(np.clip(p * (1 + 10 ** rng.uniform(-14, -1) * rng.choice([-1, 1])), 1e-300, 1 - 2**-53))
        if p != q:
            assert agrees(binary_kl(p, q), reference.binary_kl(p, q)), (p, q)


def test_efficiency_bounds_agree_to_nine_digits() -> None:
    rng = np.random.default_rng(2026)
    for _ in range(500):
        n = round(float(np.exp(rng.uniform(np.log(8), np.log(1e8)))))
        e, gamma, kl = float(rng.random()), float(10 ** rng.uniform(-15, -0.31)), float(10 ** rng.uniform(-6, 6))
        grid, beta, slope = int(rng.integers(1, 500)), float(rng.random()), float(rng.random())
        root = mp.sqrt((kl + mp.log(mpf(2) * n / mpf(gamma))) / (2 * (n - 1)))
        lipschitz = 2 * mpf(beta) * mpf(slope) / mp.sqrt(n)
        exponent = (kl + mp.log(2 * grid * mp.sqrt(n) / mpf(gamma))) / n
        assert agrees(efficiency_bound(e, n, gamma, kl, "monotone"), min(mpf(1), e + root))
        assert agrees(
            efficiency_bound(e, n, gamma, kl, "theorem2", score_bound=beta, lipschitz=slope),
            min(mpf(1), e + root + lipschitz),
        )
        assert agrees(
            efficiency_bound(e, n, gamma, kl, "grid_kl", grid_size=grid), reference.kl_inverse(mpf(e), exponent)
        )


def _unit(rng: np.random.Generator) -> float:
    """Anywhere in (0, 1), often very close to one of its ends."""
    near_an_end = float(10 ** rng.uniform(-15, -0.4))
    return float(rng.choice([near_an_end, 1 - near_an_end, rng.random()]))
