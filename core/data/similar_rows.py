"""Rows that look like copies of each other, where independent draws would not: equal ones, and nearly equal ones.

Equal rows by themselves prove nothing: in a table of few categories they are honest draws. They are suspicious in three
cases, none of which independent draws would produce.

1. They agree in a *continuous* column (`continuous_columns.py`), in a value that no other row has. Values that
   different rows share, such as the zeros of rainfall, do not count. A number as the truth is such a column, too:
   where inputs are whole numbers, it tells copies from draws.
2. The numbers N_k of rows that occur exactly k times are of an impossible form. For independent draws from any law
   k! N_k is, on average, the k-th moment of a measure (the sum of lambda^k e^-lambda over the possible rows), so by
   Cauchy and Schwarz N_(k-1) N_(k+1) >= k / (k+1) N_k^2. Where every row was doubled there are no single ones.
3. They have no relatives: `lone_copies.py`. Where equal inputs have different truths, they are no copies.

Nearly equal rows: let d_1 <= d_2 <= … be the distances of a row to its neighbours. Where draws have a density, of any
dimension D, the numbers D j log(d_(j+1) / d_j) are independent and exponential with mean 1 for small j. A row whose
distances have a jump far beyond that, up to neighbours that are far nearer than the tenth, has near copies. Rows that
differ in one column alone, however much, are near as well: `panel_rows.py`.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certiset.core.data.continuous_columns import is_continuous
from certiset.core.data.lone_copies import are_lone_copies
from certiset.core.data.panel_rows import MOST_COLUMNS, share_equal_but_one
from certiset.core.data.row_hashes import equal_row_codes

_BLOCK = 4096
_FEWEST_GROUPS = 5
_SMALLEST_SHARE = 0.01
"""of the distinct rows, which must have copies"""
_MOST_EXAMINED = 20_000
_MOST_COLUMNS = 256
_SLACK = 2.0
_HIGHEST_MULTIPLICITY = 100
_MOST_PROJECTED = 1024
"""columns"""
_DIMENSIONS = 16
_MOST_QUERIES = 1000
_PAIRS = 5_000_000
_NEIGHBOURS = 10
_JUMP = 8.0
_FAR_BELOW = 0.1
_NEAR_SHARE = 0.05
_PROFILE = 2.5
_LONGEST_JUMP = 20.0
_FEWEST_ROWS = 40
_MOST_AT_ODDS = 0.1
"""repeated inputs with different truths, as a share of those that may be copies"""
_MIXED = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class SimilarRows:
    distinct: int
    """how many different rows there are"""
    equal: float
    """share of the rows that have an equal one, where that is suspicious; otherwise 0"""
    near: float
    """the same for nearly equal ones, by a sample"""


def find_similar_rows(x: NDArray[Any], y: NDArray[Any] | None = None) -> SimilarRows:
    """Looks at all rows for equal ones, and at a bounded sample for nearly equal ones; y are their truths, if known."""
    codes = equal_row_codes(x)
    x = _filled_in(x)
    distinct, first, counts = np.unique(codes, return_index=True, return_counts=True)
    # A fixed seed: the same rows give the same caveats.
    rng = np.random.default_rng(0)
    repeated = float(counts[counts > 1].sum()) / len(codes)
    suspicious = repeated > 0 and (_impossible(counts) or _meet_in_continuous_columns(x, first, counts, rng))
    if repeated and not suspicious:
        repeated = _copied_share(x, y, codes)
        suspicious = repeated > 0
    near = _near_share(x, np.sort(first), rng) or _share_of_panels(x, first, rng)
    return SimilarRows(len(distinct), repeated if suspicious else 0.0, near)


def _filled_in(x: NDArray[Any]) -> NDArray[Any]:
    """With the mean of its column in the place of each missing number, which has no distance to others."""
    if x.dtype.kind != "f" or x.ndim != 2 or not np.isnan(x).any():
        return x
    missing = np.isnan(x)
    means = np.where(missing, 0, x).sum(axis=0) / np.maximum((~missing).sum(axis=0), 1)
    return np.where(missing, means, x)


def _copied_share(x: NDArray[Any], y: NDArray[Any] | None, inputs: NDArray[np.uint64]) -> float:
    """The share of the rows that have an equal one, truth included, if those are copies; otherwise 0."""
    truths = None if y is None else y.reshape(len(y), -1)
    with np.errstate(over="ignore"):
        codes = inputs if truths is None else inputs + _MIXED * equal_row_codes(truths)
    _, first, counts = np.unique(codes, return_index=True, return_counts=True)
    share = float(counts[counts > 1].sum()) / len(codes)
    rng = np.random.default_rng(0)
    if share and truths is not None and _meet_in_continuous_columns(truths, first, counts, rng):
        return share
    at_odds = np.count_nonzero(np.unique(inputs[first], return_counts=True)[1] > 1)
    if at_odds > _MOST_AT_ODDS * np.count_nonzero(counts > 1):
        return 0.0
    columns = np.sort(rng.permutation(int(np.prod(x.shape[1:], dtype=np.int64)))[:_MOST_COLUMNS])
    chosen = np.sort(rng.permutation(len(first))[:_MOST_EXAMINED])
    values = _taken(x, first[chosen], columns)
    if truths is not None:
        values = np.concatenate([values, truths[first[chosen]].astype(np.float64)], axis=1)
    return share if are_lone_copies(values, counts[chosen], rng) else 0.0


def _impossible(counts: NDArray[np.int64]) -> bool:
    """Whether no law of independent draws repeats rows so evenly."""
    times = np.bincount(np.minimum(counts, _HIGHEST_MULTIPLICITY + 1), minlength=_HIGHEST_MULTIPLICITY + 2)
    times = times.astype(np.float64)
    # Each number as large or as small as chance may make it: three standard deviations, and three more of a rare kind.
    low, high = np.maximum(times - 3 * np.sqrt(times), 0), times + 3 * np.sqrt(times) + 3
    k = np.arange(2, _HIGHEST_MULTIPLICITY)
    return bool(np.any(high[k - 1] * high[k + 1] * _SLACK < k / (k + 1) * low[k] ** 2))


def _meet_in_continuous_columns(
    x: NDArray[Any], first: NDArray[np.int64], counts: NDArray[np.int64], rng: np.random.Generator
) -> bool:
    """Whether more than a few rows have copies that agree in a value which no other row has, in a continuous column."""
    chosen = rng.permutation(len(first))[:_MOST_EXAMINED]
    repeated = counts[chosen] > 1
    enough = max(_FEWEST_GROUPS * len(chosen) / len(first), _SMALLEST_SHARE * len(chosen))
    if repeated.sum() < enough:
        return False
    width = int(np.prod(x.shape[1:], dtype=np.int64))
    columns = np.sort(rng.permutation(width)[:_MOST_COLUMNS])
    values = _taken(x, first[chosen], columns)
    suspicious = np.zeros(len(chosen), dtype=bool)
    rows = len(x) * len(chosen) / len(first)
    for column in values.T:
        found, place, shared_by = np.unique(column, return_inverse=True, return_counts=True)
        if is_continuous(found, rows):
            suspicious |= repeated & (shared_by[place] == 1)
    return bool(suspicious.sum() >= enough)


def _near_share(x: NDArray[Any], first: NDArray[np.int64], rng: np.random.Generator) -> float:
    """The share of a sample of the distinct rows that have near copies; 0 if they are too few to tell."""
    if len(first) < _FEWEST_ROWS:
        return 0.0
    points = _standardised(x, first, rng)
    queries = rng.permutation(len(points))[: int(np.clip(_PAIRS // len(points), 50, _MOST_QUERIES))]
    distances = _neighbour_distances(points, queries)
    if int(np.prod(x.shape[1:], dtype=np.int64)) > _MOST_PROJECTED:
        # Rows that differ, but not in the columns that are looked at: how near they are is not known.
        distances = distances[np.all(distances > 0, axis=1)]
        if len(distances) < _FEWEST_ROWS:
            return 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        jumps = np.arange(1, _NEIGHBOURS) * np.log(distances[:, 1:] / distances[:, :-1])
    jumps = np.nan_to_num(jumps, nan=0.0, posinf=np.inf)
    usual = np.median(jumps) / np.log(2)
    if not np.isfinite(usual) or usual <= 0:
        return 0.0
    jumps = np.minimum(jumps / usual, _LONGEST_JUMP)
    far_below = distances[:, :-1] < _FAR_BELOW * distances[:, -1:]
    alone = np.any((jumps > _JUMP) & far_below, axis=1)
    share = float(alone.mean())
    # One pair more or less by chance must not matter among few rows.
    if share >= _NEAR_SHARE + 1 / np.sqrt(len(distances)):
        return share
    # Many small jumps at one place: of groups of one size in few dimensions no single row stands out, all together do.
    profile = jumps.mean(axis=0)
    place = int(np.argmax(profile))
    together = far_below[:, place] & (jumps[:, place] > 1)
    if profile[place] >= _PROFILE * np.median(profile) and together.mean() >= 0.5:
        return float(together.mean())
    return 0.0


def _share_of_panels(x: NDArray[Any], first: NDArray[np.int64], rng: np.random.Generator) -> float:
    """Of a table's distinct rows that differ from others in one column alone."""
    if x.ndim != 2 or x.shape[1] > MOST_COLUMNS:
        return 0.0
    chosen = np.sort(rng.permutation(len(first))[:_MOST_EXAMINED])
    return share_equal_but_one(_taken(x, first[chosen], np.arange(x.shape[1])), rng)


def _standardised(x: NDArray[Any], chosen: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.float64]:
    """(rows, at most 16): columns of mean 0 and variance 1, of many a random projection."""
    width = int(np.prod(x.shape[1:], dtype=np.int64))
    columns = np.sort(rng.permutation(width)[:_MOST_PROJECTED])
    projection = rng.normal(size=(len(columns), _DIMENSIONS)) if len(columns) > _DIMENSIONS else None
    sample = _taken(x, chosen[np.sort(rng.permutation(len(chosen))[:_MOST_EXAMINED])], columns)
    with np.errstate(over="ignore", invalid="ignore"):
        mean, deviation = sample.mean(axis=0), sample.std(axis=0)
    usable = np.isfinite(deviation) & (deviation > 0)
    scale = np.where(usable, 1 / np.where(usable, deviation, 1.0), 0.0)
    parts = []
    for start in range(0, len(chosen), _BLOCK):
        part = (_taken(x, chosen[start : start + _BLOCK], columns) - np.where(usable, mean, 0.0)) * scale
        parts.append(part if projection is None else part @ projection)
    return np.concatenate(parts)


def _neighbour_distances(points: NDArray[np.float64], queries: NDArray[np.int64]) -> NDArray[np.float64]:
    """(queries, 10): to the nearest other rows, in ascending order."""
    squares = np.einsum("ij,ij->i", points, points)
    found = []
    at_once = max(1, _PAIRS // 5 // len(points))
    for start in range(0, len(queries), at_once):
        part = queries[start : start + at_once]
        rough = squares - 2 * points[part] @ points.T
        rough[np.arange(len(part)), part] = np.inf
        nearest = np.argpartition(rough, _NEIGHBOURS, axis=1)[:, :_NEIGHBOURS]
        # Exactly: in the rough form, small distances are differences of large numbers.
        exact = np.linalg.norm(points[nearest] - points[part, None], axis=2)
        exact.sort(axis=1)
        found.append(exact)
    return np.concatenate(found)


def _taken(x: NDArray[Any], rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.float64]:
    """Some columns of some rows, a block at a time so that wide rows need little memory."""
    parts = [
        np.asarray(x[rows[start : start + _BLOCK]]).reshape(len(rows[start : start + _BLOCK]), -1)[:, columns]
        for start in range(0, len(rows), _BLOCK)
    ]
    return np.concatenate(parts).astype(np.float64)
