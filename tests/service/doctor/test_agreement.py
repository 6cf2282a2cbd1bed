"""Two devices that agree, and some that do not."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from certiset.service.doctor import agreement
from certiset.service.doctor.agreement import Agreement, compare
from certiset.service.doctor.devices import check_agreement
from tests.devices import DEVICES


@pytest.mark.parametrize("device", DEVICES)
def test_a_device_agrees_with_the_cpu(device: str) -> None:
    found = compare(device)
    assert found.is_rounding
    assert found.rows == 600
    if device == "cpu":
        assert (found.scores, found.thresholds, found.sets) == (0.0, 0.0, 0)
    assert check_agreement(device).state == "ok"


def test_a_device_that_computes_something_else_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """As one would that multiplies in too low a precision: every other call is off by a percent."""
    honest, calls = agreement._scores, iter(range(100))
    monkeypatch.setattr(agreement, "_scores", lambda *given: honest(*given) * (1.01 if next(calls) % 2 else 1.0))
    finding = check_agreement("cpu")
    assert finding.state == "failed"
    assert "more than rounding" in finding.message


def test_a_device_that_cannot_run_a_fit_is_a_finding() -> None:
    finding = check_agreement("mps" if not torch.backends.mps.is_available() else "cuda")
    assert finding.state == "failed"


def test_what_counts_as_rounding() -> None:
    fine = Agreement(scores=1e-6, thresholds=1e-6, sets=6, rows=600)
    assert fine.is_rounding
    assert not replace(fine, scores=float(np.nan)).is_rounding
    assert not replace(fine, thresholds=0.01).is_rounding
    assert not replace(fine, sets=7).is_rounding
