"""The domains of the arguments: each check returns the argument as an array, or says what is wrong with it."""

from typing import Any, SupportsFloat, TypeAlias, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from certiset.core.bounds.errors import DomainError

Floats: TypeAlias = NDArray[np.floating[Any]]
Ints: TypeAlias = NDArray[np.int64]

LARGEST_COUNT = 2**53
"""Counts above this are not exact in float64. The accuracy promised is tested up to n = 10^8."""


def real(name: str, value: ArrayLike) -> Floats:
    """``value`` as float64, refused where it is not a number."""
    try:
        given = np.asarray(value)
        numbers = given.astype(np.float64) if given.dtype.kind in "biuf" or given.size == 0 else None
        if numbers is None and given.dtype == object:
            numbers = np.vectorize(_python_number, otypes=[np.float64])(given)
    except (TypeError, ValueError, OverflowError):
        numbers = None
    if numbers is None:
        raise DomainError(f"{name} must be a number, not {_abridged(value)}.", field=name)
    if np.any(np.isnan(numbers)):
        raise DomainError(f"{name} must be a number, not NaN.", field=name)
    return numbers


def finite(name: str, value: ArrayLike) -> Floats:
    numbers = real(name, value)
    _refuse(name, numbers, np.isinf(numbers), "must be finite")
    return numbers


def count(name: str, value: ArrayLike, at_least: int = 1) -> Ints:
    """``value`` as whole numbers of at least ``at_least``; a float is accepted where it is whole."""
    numbers = real(name, value)
    _refuse(name, numbers, numbers > LARGEST_COUNT, "must be at most 2^53")
    _refuse(name, numbers, numbers != np.floor(numbers), "must be a whole number")
    _refuse(name, numbers, numbers < at_least, f"must be at least {at_least}")
    return numbers.astype(np.int64)


def open_unit(name: str, value: ArrayLike) -> Floats:
    """A level: strictly between 0 and 1."""
    numbers = real(name, value)
    _refuse(name, numbers, (numbers <= 0) | (numbers >= 1), "must lie strictly between 0 and 1")
    return numbers


def closed_unit(name: str, value: ArrayLike) -> Floats:
    """A probability or a mean of quantities in [0, 1]."""
    numbers = real(name, value)
    _refuse(name, numbers, (numbers < 0) | (numbers > 1), "must lie between 0 and 1")
    return numbers


def divergence(name: str, value: ArrayLike) -> Floats:
    """A Kullback-Leibler divergence: finite and not negative."""
    numbers = finite(name, value)
    _refuse(name, numbers, numbers < 0, "must not be negative")
    return numbers


def calibration(n: ArrayLike, k: ArrayLike) -> tuple[Ints, Ints]:
    """A calibration size of at least 2 and a rank between 1 and n."""
    sizes, ranks = count("n", n, at_least=2), count("k", k)
    sizes_here, ranks_here = together(n=sizes, k=ranks)
    if np.any(ranks_here > sizes_here):
        at = int(np.argmax(np.ravel(ranks_here > sizes_here)))
        raise DomainError(
            f"k must be at most n, and k = {np.ravel(ranks_here)[at]} is beyond n = {np.ravel(sizes_here)[at]}.",
            field="k",
        )
    return sizes, ranks


def one_number(name: str, values: NDArray[Any]) -> float:
    """The number itself, where an array will not do."""
    if values.ndim != 0:
        raise DomainError(f"{name} must be one number.", field=name)
    return float(values)


def together(**arrays: NDArray[Any]) -> list[NDArray[Any]]:
    """Broadcasts the arrays against each other."""
    try:
        return list(np.broadcast_arrays(*arrays.values()))
    except ValueError:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
        raise DomainError(f"These shapes do not broadcast against each other: {shapes}.") from None


@overload
def answer(values: Floats) -> float | Floats: ...
@overload
def answer(values: Ints) -> int | Ints: ...
def answer(values: Floats | Ints) -> float | int | Floats | Ints:
    """A Python number for scalar arguments, an array for arrays."""
    return values.item() if values.ndim == 0 else values


def shown(value: SupportsFloat) -> str:
    """The number as a person would write it, with all its digits only where it needs them."""
    number = float(value)
    short = f"{number:g}"
    return short if float(short) == number else repr(number)


def _python_number(value: object) -> float:
    """Integers beyond 64 bits arrive as objects; one beyond float64 is as good as infinite, and refused as such."""
    if not isinstance(value, int):
        raise TypeError
    try:
        return float(value)
    except OverflowError:
        return np.inf


def _abridged(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _refuse(name: str, values: Floats, bad: NDArray[np.bool_], rule: str) -> None:
    if np.any(bad):
        raise DomainError(f"{name} {rule}, not {shown(values[bad].flat[0])}.", field=name)
