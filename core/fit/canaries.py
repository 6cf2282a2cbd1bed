"""Canary inputs: made when a predictor is fitted, recomputed whenever it is loaded.

Inputs are drawn evenly from where most of the data lie. What must not leave the data are rows: so that ranges, and not
rows, stand on the certificate, and quantiles to two digits, and not extremes, which may be one person's.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from certiset.core.certificate.canaries import Canaries, canary_checks
from certiset.core.errors import CertisetError, DamagedFileError, OtherArithmeticError
from certiset.core.fit.precision import full_precision
from certiset.core.fit.predictor import Predictor
from certiset.core.fit.reference_rows import largest_error, reference_features
from certiset.core.fit.rows import Rows

_INPUTS = 8
_INPUTS_OF_BACKBONE = 2
"""which may take long, and loading should not"""
_MEMBERS = 8
_OUTPUTS = 8
_COLUMNS = 32
"""with more, one range is for all"""
_ROWS = 4096
"""that ranges are taken from, or fewer if they are large"""
_LEAST_ROWS = 16
_NUMBERS = 2**22
_RANGE = (0.05, 0.95)
_PLACES = 64.0
_SAFETY = 16.0


@dataclass(frozen=True)
class _Said:
    """What members say about inputs, in the unit of the scorer."""

    outputs: NDArray[np.float64]  # (members, inputs, columns)
    scale: NDArray[np.float64] | None  # (members, inputs)


def make_canaries(predictor: Predictor, x: NDArray[Any], calibration: NDArray[np.int64], seed: int) -> Canaries | None:
    """``calibration`` are the numbers of D_N's rows in x. None where the model cannot take such inputs."""
    model, dtype = predictor.scorer.model, predictor.theta.dtype
    if model.is_in_process:
        # Nobody can load it.
        return None
    some = x[calibration[: min(_ROWS, max(_LEAST_ROWS, _NUMBERS // math.prod(model.manifest.input_shape)))]]
    low, high, whole = _ranges(some.reshape(len(some), -1).astype(np.float64))
    members = np.unique(np.linspace(0, predictor.members - 1, _MEMBERS).astype(int)).tolist()
    columns = np.unique(np.linspace(0, model.outputs - 1, _OUTPUTS).astype(int)).tolist()
    count = _INPUTS if model.manifest.backbone.is_quick else _INPUTS_OF_BACKBONE
    inputs = _inputs(model.manifest.input_shape, count, seed, low, high, whole)
    other = torch.float32 if dtype == torch.float64 else torch.float64
    try:
        features = model.features(inputs, predictor.device, dtype)
        said = _said(predictor, members, columns, features)
        exact = _said(predictor, members, columns, reference_features(model, inputs, dtype, other))
    except CertisetError:
        return None
    if not np.isfinite(said.outputs).all():
        return None
    return Canaries(
        seed=seed,
        low=low,
        high=high,
        whole=whole,
        members=members,
        columns=columns,
        outputs=_digits(said.outputs, dtype),
        slack=_slack(said.outputs, exact.outputs, dtype),
        scale=None if said.scale is None else _digits(said.scale, dtype),
        scale_slack=None if said.scale is None or exact.scale is None else _slack(said.scale, exact.scale, dtype),
    )


def check_canaries(predictor: Predictor) -> Predictor:
    """The predictor, if it says here what it said when it was certified; predictors from before have no canaries."""
    signed, model = predictor.certificate.canaries, predictor.scorer.model
    if signed is None:
        return predictor
    shape = model.manifest.input_shape
    sound = all(check.ok for check in canary_checks(signed, predictor.members))
    if not sound or len(signed.low) not in (1, math.prod(shape)) or not {*signed.columns} <= {*range(model.outputs)}:
        raise DamagedFileError("The certificate's canaries do not fit its predictor.")
    inputs = _inputs(shape, len(signed.outputs[0]), signed.seed, signed.low, signed.high, signed.whole)
    with full_precision(predictor.device):
        features = model.features(inputs, predictor.device, predictor.theta.dtype)
        said = _said(predictor, signed.members, signed.columns, features)
    _compare("output", np.array(signed.outputs), said.outputs, signed.slack)
    if signed.scale is not None and signed.scale_slack is not None and said.scale is not None:
        _compare("scale", np.array(signed.scale), said.scale, signed.scale_slack)
    return predictor


def _compare(what: str, signed: NDArray[np.float64], found: NDArray[np.float64], slack: float) -> None:
    away = np.abs(found - signed)
    if np.all(away <= slack):
        return
    place = np.unravel_index(int(np.argmax(np.nan_to_num(away, nan=np.inf))), away.shape)
    raise OtherArithmeticError(
        "On this machine the predictor computes other numbers than those that were certified: for a canary input, one "
        f"{what} is {found[place]:.9g}, and was {signed[place]:.9g}, with {slack:.2g} allowed for rounding. Its sets "
        "would not be those of the certificate, so it is not served: calibrate again on this kind of machine, with the "
        "versions that are installed here."
    )


def _ranges(x: NDArray[np.float64]) -> tuple[list[float], list[float], list[bool]]:
    if x.shape[1] > _COLUMNS:
        x = x.reshape(-1, 1)
    low, high = np.quantile(x, _RANGE, axis=0)
    return [*map(_two_digits, low)], [*map(_two_digits, high)], (x == np.floor(x)).all(axis=0).tolist()


def _two_digits(value: float) -> float:
    return float(f"{value:.1e}")


def _inputs(
    shape: tuple[int, ...], count: int, seed: int, low: list[float], high: list[float], whole: list[bool]
) -> NDArray[np.float64]:
    """(count, *shape); NumPy promises that this generator never changes."""
    even = np.random.RandomState(seed).random_sample((count, math.prod(shape)))
    found = np.array(low) + even * (np.array(high) - np.array(low))
    return np.where(whole, np.rint(found), found).reshape(count, *shape)


@torch.inference_mode()
def _said(predictor: Predictor, members: list[int], columns: list[int], features: torch.Tensor) -> _Said:
    """On the device of the features, in their precision."""
    scorer = predictor.scorer
    theta = predictor.theta[members].to(features)
    outputs = features if scorer.tunes_head else scorer.model.given_outputs(features)
    prediction = scorer.predict(theta, Rows(features, outputs, features))
    found = prediction.outputs[..., columns].expand(len(members), -1, -1)
    scale = prediction.scale
    return _Said(_host(found), None if scale is None else _host(scale))


def _host(values: torch.Tensor) -> NDArray[np.float64]:
    return np.asarray(values.cpu().double().numpy())


def _slack(said: NDArray[np.float64], exact: NDArray[np.float64], dtype: torch.dtype) -> float:
    floats = torch.finfo(dtype)
    usual = _PLACES * (floats.eps * float(np.abs(said).max()) + floats.tiny)
    return max(usual, _SAFETY * largest_error(torch.from_numpy(said - exact), dtype))


def _digits(values: NDArray[np.float64], dtype: torch.dtype) -> Any:
    """As many as name a float of that precision."""
    digits = 9 if dtype == torch.float32 else 17
    return np.vectorize(lambda value: float(f"{value:.{digits}g}"), otypes=[np.float64])(values).tolist()
