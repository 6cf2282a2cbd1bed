"""How fast the bounds are on arrays, and how the efficiency bounds compare: ``python -m benchmarks.bounds``."""

import time
from collections.abc import Callable

import numpy as np

from certiset.core.bounds import efficiency_bound, kl_budget, per_draw_budget
from certiset.core.bounds.domain import Floats

_SIDE = 200
_SCALAR_CALLS = 200
_GRID_POINTS = 20

_BUDGETS: dict[str, Callable[..., float | Floats]] = {
    "seeger": lambda n, k: kl_budget(n, k, 0.1, 0.05, "seeger"),
    "chernoff": lambda n, k: kl_budget(n, k, 0.1, 0.05, "chernoff"),
    "per draw": lambda n, k: per_draw_budget(n, k, 0.1, 0.05),
}


def budget_maps() -> None:
    """A 200 x 200 map over (alpha_hat, n), against one call for each of its points."""
    sizes = np.geomspace(50, 1e5, _SIDE).astype(np.int64)
    n, level = np.meshgrid(sizes, np.linspace(0.02, 0.098, _SIDE))
    k = np.maximum(1, np.floor((n + 1) * level)).astype(np.int64)
    sample = np.random.default_rng(0).integers(0, n.size, _SCALAR_CALLS)
    print(f"{_SIDE} x {_SIDE} budgets     map s   one by one s   ratio")
    for name, budget in _BUDGETS.items():
        start = time.process_time()
        budget(n, k)
        whole = time.process_time() - start
        start = time.process_time()
        for i in sample:
            budget(int(n.flat[i]), int(k.flat[i]))
        apart = (time.process_time() - start) * n.size / _SCALAR_CALLS
        print(f"{name:>17} {whole:>9.2f} {apart:>14.1f} {apart / whole:>7.0f}")


def efficiency_comparison() -> None:
    """On typical sizes and divergences: is kl on a grid, rounding up included, below the square root?"""
    rng = np.random.default_rng(0)
    rounding = 1 / _GRID_POINTS
    size, kl = rng.uniform(0.05, 0.5, 5000), rng.uniform(0, 10, 5000)
    print(f"\n{_GRID_POINTS}-point grid    grid_kl <= monotone + rounding   median of monotone - grid_kl")
    for n in (200, 1000, 5000, 50_000):
        rounded = np.minimum(size + rounding * rng.random(5000), 1)
        on_grid = np.asarray(efficiency_bound(rounded, n, 0.05, kl, "grid_kl", grid_size=_GRID_POINTS))
        plain = np.asarray(efficiency_bound(size, n, 0.05, kl, "monotone"))
        share = np.mean(on_grid <= plain + rounding)
        print(f"n = {n:>6} {share:>36.1%} {np.median(plain - on_grid):>30.4f}")


if __name__ == "__main__":
    budget_maps()
    efficiency_comparison()
