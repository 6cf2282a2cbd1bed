"""Rows for another population: which of the given ones are used, so that they are independent draws from it.

It is done before anything else, by weights, counts of classes and a seed alone; what follows, whatever the method, is
done on rows that were left as on any others. Rows that were left out are used for nothing.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certiset.core.bounds import (
    BoundsError,
    ExhaustedClassError,
    TooFewPointsError,
    effective_number,
    label_shift_draws,
    label_shift_rows,
    thinning,
)
from certiset.core.bounds.label_shift import EPSILON
from certiset.core.certificate.shift import PREVALENCES, TARGET, WEIGHTS, Shift
from certiset.core.data.arrays import CheckedData
from certiset.core.data.row_hashes import equal_row_codes
from certiset.core.errors import DataError, OptionError
from certiset.core.fit.density_ratio import DensityRatio
from certiset.core.fit.options import FitOptions
from certiset.core.tasks import Task

_TRAINING_SHARE = 0.3
"""of the rows, which train the classifier that estimates weights"""
_THINNING, _TRAINING, LABELS = 12, 13, 14
"""streams of randomness beside that of the split"""


@dataclass(frozen=True)
class TargetRows:
    """All rows that were given, and how some of them were chosen."""

    shift: Shift
    sha256: str
    """of all rows that were given"""
    rows: int
    distinct_rows: int


def chosen_rows(data: CheckedData, options: FitOptions) -> tuple[CheckedData, TargetRows | None]:
    """By known weights or prevalences; all rows where there are none."""
    if data.weights is not None:
        return _weighted(data, options)
    if options.prevalences is not None:
        return _by_class(data, options)
    return data, None


def _weighted(data: CheckedData, options: FitOptions) -> tuple[CheckedData, TargetRows]:
    weights, bound = data.weights, options.weight_bound
    assert weights is not None
    assert bound is not None
    kept, effective = _kept(weights, bound, options.seed)
    shift = Shift(
        kind=WEIGHTS,
        kept=len(kept),
        column=options.weights,
        weights_sha256=_sha256(weights),
        weight_bound=bound,
        effective=effective,
    )
    return _taken(data, kept, shift)


def _by_class(data: CheckedData, options: FitOptions) -> tuple[CheckedData, TargetRows]:
    prevalences, labels = np.array(options.prevalences), data.y
    counts = np.bincount(labels, minlength=len(prevalences))
    missing = np.flatnonzero((counts == 0) & (prevalences > 0))
    if missing.size:
        raise DataError(
            f"No row has class {missing[0]}, whose prevalence is {prevalences[missing[0]]:g}: every class of the "
            "target population needs rows to draw from.",
            field="prevalences",
        )
    if not label_shift_draws(counts, prevalences):
        scarce = int(np.argmin(counts / np.maximum(prevalences, 1e-300)))
        raise TooFewPointsError(
            f"Class {scarce} has {counts[scarce]} rows and a prevalence of {prevalences[scarce]:g}: too few to draw "
            "any row from the target population. More rows of that class are needed.",
            int(counts[scarce]) + 1,
            field="prevalences",
        )
    try:
        rows = label_shift_rows(labels, prevalences, np.random.default_rng([options.seed, LABELS]))
    except ExhaustedClassError as error:
        error.field = "prevalences"
        raise
    shift = Shift(
        kind=PREVALENCES,
        kept=len(rows),
        prevalences=prevalences.tolist(),
        counts=counts.tolist(),
        epsilon=EPSILON,
    )
    return _taken(data, rows, shift)


def training_rows(rows: int, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Places of the rows that train weights, and of the others."""
    shuffled = np.random.default_rng([seed, _TRAINING]).permutation(rows)
    count = max(2, int(_TRAINING_SHARE * rows))
    return shuffled[:count], np.sort(shuffled[count:])


def rows_by_estimate(
    data: CheckedData, features: NDArray[Any], target: NDArray[Any], target_sha256: str, options: FitOptions
) -> tuple[CheckedData, TargetRows]:
    """Weights estimated from some of the rows and all target inputs, by their features; the other rows are thinned."""
    training, others = training_rows(len(data.y), options.seed)
    ratio = DensityRatio.trained(features[training], target, options.weight_bound)
    weights = ratio.of(features[others])
    kept, effective = _kept(weights, ratio.bound, options.seed)
    shift = Shift(
        kind=TARGET,
        kept=len(kept),
        weights_sha256=_sha256(weights),
        weight_bound=ratio.bound,
        effective=effective,
        target_sha256=target_sha256,
        target_rows=len(target),
        trained_on=len(training),
    )
    return _taken(data, others[kept], shift)


def _kept(weights: NDArray[np.float64], bound: float, seed: int) -> tuple[NDArray[np.int64], float]:
    uniforms = np.random.default_rng([seed, _THINNING]).random(len(weights))
    try:
        kept = np.flatnonzero(thinning(weights, bound, uniforms))
    except BoundsError as error:
        raise DataError(str(error).replace("bound =", "weight_bound ="), field="weights") from None
    effective = effective_number(weights, bound)
    if len(kept) < 2:
        raise TooFewPointsError(
            f"Of {len(weights)} rows {len(kept)} are kept by weights whose bound is {bound:g} (on average "
            f"{effective:.3g} would be): more rows, or a smaller bound, are needed.",
            2,
            field="weights",
        )
    return kept, effective


def _taken(data: CheckedData, places: NDArray[np.int64], shift: Shift) -> tuple[CheckedData, TargetRows]:
    distinct = len(np.unique(equal_row_codes(data.x)))
    return replace(data.take(places), weights=None), TargetRows(shift, data.sha256, len(data.y), distinct)


def listed_prevalences(given: Any, task: Task, classes: int) -> list[float] | None:
    """One for each class of the model, in their order."""
    if given is None:
        return None
    if task != "classification":
        raise OptionError("prevalences are of classes, and the model is for regression.", field="prevalences")
    if isinstance(given, Mapping):
        wrong = next((name for name in given if not (name.isdecimal() and int(name) < classes)), None)
        if wrong is not None:
            raise OptionError(
                f"prevalences names the class {wrong[:40]!r}, and classes are from 0 to {classes - 1}.",
                field="prevalences",
            )
        named = {int(name): share for name, share in given.items()}
        return [named.get(label, 0.0) for label in range(classes)]
    if len(given) != classes:
        raise OptionError(
            f"prevalences has {len(given)} shares for {classes} classes: one for each is needed.", field="prevalences"
        )
    return list(given)


def _sha256(weights: NDArray[np.float64]) -> str:
    return hashlib.sha256(np.ascontiguousarray(weights).tobytes()).hexdigest()
