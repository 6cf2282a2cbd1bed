"""Bodies of .npz are unpacked in a process of their tenant's own, and nothing of them is looked at in this one."""

import os
import signal
import zipfile
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from certiset.core.errors import CertisetError, DataError
from certiset.core.sandbox import Returned, SandboxError, Standing
from certiset.service.http.npz_bodies import NpzBodies
from certiset.service.http.prediction_arrays import read_npz
from tests.service.bodies import npz

X = np.arange(6.0).reshape(3, 2)


@pytest.fixture
def bodies() -> Iterator[NpzBodies]:
    made = NpzBodies(2**24, 100, most=2)
    yield made
    made.close()


def process_of(bodies: NpzBodies, tenant: str) -> Any:
    return bodies._readers[tenant]._process


def test_arrays_are_what_was_sent_and_nothing_is_unpacked_here(
    bodies: NpzBodies, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = npz(
        x=np.asfortranarray(X),
        case=np.array(["a", "\u00e9\u4e2d", ""]),
        groups=np.array([["m", "1"], ["", "\U0001f600"], ["f", "3"]]),
        column_names=np.array([b"age", b"income"]),
    )
    monkeypatch.delattr(zipfile, "ZipFile")
    asked = read_npz(content, "pred-1", lambda body: bodies.read("ada", body), 100)
    assert np.array_equal(asked.x, X)
    assert asked.cases == ["a", "\u00e9\u4e2d", ""]
    assert asked.groups.tolist() == [["m", "1"], ["", "\U0001f600"], ["f", "3"]]
    assert asked.columns == ["age", "income"]


@pytest.mark.parametrize("x", [np.float32(3), np.zeros((0, 2)), np.array([True]), X.astype(">f4"), X.astype("<f2")])
def test_shape_and_type_of_the_input_are_kept(bodies: NpzBodies, x: Any) -> None:
    found = bodies.read("ada", npz(x=x))["x"]
    assert (found.shape, found.dtype) == (np.shape(x), np.asarray(x).dtype)
    assert np.array_equal(found, x)


def test_a_tenant_has_one_process_that_stays_and_none_shares_it(bodies: NpzBodies) -> None:
    for tenant in ("ada", "eve", "ada"):
        bodies.read(tenant, npz(x=X))
    ada, eve = process_of(bodies, "ada"), process_of(bodies, "eve")
    assert ada.pid != eve.pid
    bodies.read("ada", npz(x=X))
    assert process_of(bodies, "ada") is ada
    bodies.read("gina", npz(x=X))
    assert not eve.alive, "whose body is the longest ago"
    assert ada.alive
    bodies.close()
    assert not ada.alive


def test_a_process_that_died_takes_nothing_with_it(bodies: NpzBodies) -> None:
    bodies.read("ada", npz(x=X))
    os.kill(process_of(bodies, "ada").pid, signal.SIGSTOP)
    os.kill(process_of(bodies, "ada").pid, signal.SIGKILL)
    process_of(bodies, "ada")._process.wait()
    assert np.array_equal(bodies.read("ada", npz(x=X))["x"], X)


NAMES = np.frombuffer(b'["x", "case"]', dtype=np.uint8)


@pytest.mark.parametrize(
    ("arrays", "error"),
    [
        ([], SandboxError),
        ([np.zeros(2)], SandboxError),
        ([NAMES], SandboxError),
        ([NAMES[5:], X], SandboxError),
        ([np.frombuffer(b'["y"]', dtype=np.uint8), X], SandboxError),
        ([np.frombuffer(b'[["x"]]', dtype=np.uint8), X], SandboxError),
        ([NAMES, X, np.zeros((3, 2), dtype="S4")], DataError),
        ([NAMES, X, np.zeros(3, dtype="S4000")], DataError),
        ([NAMES, X, np.zeros(101, dtype="S4")], CertisetError),
    ],
)
def test_what_a_process_that_was_taken_over_says_is_held_against_the_limits(
    bodies: NpzBodies, monkeypatch: pytest.MonkeyPatch, arrays: list[Any], error: type[Exception]
) -> None:
    monkeypatch.setattr(Standing, "__call__", lambda *_: Returned(None, arrays))
    with pytest.raises(error):
        read_npz(b"", "pred-1", lambda body: bodies.read("ada", body), 100)
