"""What a page shows before and beside a calibration: cheap answers, from the bounds and from the first rows."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certiset.core.bounds import smallest_n_2b, vovk_2b
from certiset.core.bounds.errors import TooFewPointsError
from certiset.core.certificate.group_prospects import group_prospects
from certiset.core.data.frame import Column, TextColumn
from certiset.core.data.stored_rows import read_class_names, read_columns, read_further, read_rows
from certiset.core.insight_resources import Budget, Count, DatasetProfile, GroupBudget
from certiset.core.store.store import Store

_ROWS = 100_000
_NUMBERS = 5_000_000
_COMPARED = 2_000_000
"""numbers among which equal rows are looked for"""
_MOST_CLASSES = 1000
_FEW_VALUES = 30
_BARS = 16


def budget_of(n: int, alpha: float, delta: float, counts: Sequence[int] = ()) -> Budget:
    least = smallest_n_2b(alpha, delta)
    try:
        rank = int(vovk_2b(n, alpha, delta)) if n >= least else None
    except TooFewPointsError:
        rank = None
    names = [str(place) for place in range(1, len(counts) + 1)]
    found = group_prospects(names, counts, alpha, delta) if counts else None
    return Budget(
        n=n,
        alpha=alpha,
        delta=delta,
        enough=rank is not None,
        least=least,
        rank=rank,
        level=None if rank is None else rank / (n + 1),
        groups=None if found is None else len(counts),
        groups_enough=None if found is None else len(counts) - len(found.too_small),
        group_least=None if found is None else found.rows_needed,
        each_group=None
        if found is None
        else tuple(
            GroupBudget(n=one.n, delta=one.delta, rank=one.k or None, level=one.level or None, lacking=one.lacking)
            for one in found.groups
        ),
    )


def profile_of(store: Store, tenant: str, dataset_id: str) -> DatasetProfile:
    with store.reading() as work:
        record = work.datasets.get(tenant, dataset_id)
    read = partial(store.artifacts.part, record.artifact)
    x, y = read_rows(read, 0, _ROWS, most_numbers=_NUMBERS)
    described = read_columns(read)
    names = described["names"] if described is not None and described["names"] is not None else []
    edges, heights = _histogram(y) if record.y_kind == "numbers" else (None, None)
    return DatasetProfile(
        rows=len(x),
        distinct=_distinct(x),
        classes=_classes(y, read_class_names(read))[:_MOST_CLASSES] if record.y_kind == "labels" else None,
        edges=edges,
        heights=heights,
        groups=_groups(x, names) | _further_groups(read_further(read, 0, len(x))),
    )


def _classes(y: NDArray[Any], names: Sequence[str] | None) -> tuple[Count, ...]:
    if names is None:
        return _counts(y)
    rows = np.bincount(y.astype(np.int64), minlength=len(names)).tolist()
    return tuple(Count(value=name, rows=count) for name, count in zip(names, rows, strict=True) if count)


def _counts(values: NDArray[Any]) -> tuple[Count, ...]:
    found, rows = np.unique(values, return_counts=True)
    return tuple(
        Count(value=f"{value:g}", rows=int(count)) for value, count in zip(found.tolist(), rows.tolist(), strict=True)
    )


def _histogram(y: NDArray[Any]) -> tuple[tuple[float, ...], tuple[int, ...]]:
    finite = y[np.isfinite(y)].astype(np.float64)
    # Halved, the largest numbers have a difference; numbers that are next to each other have room for one bar.
    low, high = (finite.min() / 2, finite.max() / 2) if finite.size else (0.0, 0.5)
    edges = np.unique(2 * np.linspace(low, high, _BARS + 1)) if low < high else np.array([low - 0.25, low + 0.25]) * 2
    return tuple(edges.tolist()), tuple(np.histogram(finite, bins=edges)[0].tolist())


def _distinct(x: NDArray[Any]) -> int | None:
    if x.size > _COMPARED:
        return None
    flat = np.ascontiguousarray(x.reshape(len(x), -1))
    return len({row.tobytes() for row in flat})


def _groups(x: NDArray[Any], names: Sequence[str]) -> dict[str, tuple[Count, ...]]:
    """Columns of numbers with few different values; more than a hundred columns are not looked through."""
    found = {}
    for place, name in enumerate(names[:100] if x.ndim == 2 else []):
        values = x[:, place]
        values = values[np.isfinite(values)]
        if len(np.unique(values[:1000])) <= _FEW_VALUES:
            counts = _counts(values)
            if 2 <= len(counts) <= _FEW_VALUES:
                found[name] = counts
    return found


def _further_groups(columns: Mapping[str, Column]) -> dict[str, tuple[Count, ...]]:
    """Likewise those of text, and of numbers beside x."""
    found = {}
    for name, column in list(columns.items())[:100]:
        if isinstance(column, TextColumn):
            rows = np.bincount(column.codes[column.codes >= 0], minlength=len(column.values)).tolist()
            counts = tuple(Count(value=v, rows=count) for v, count in zip(column.values, rows, strict=True) if count)
        else:
            counts = _counts(column[np.isfinite(column)])
        if 2 <= len(counts) <= _FEW_VALUES:
            found[name] = counts
    return found
