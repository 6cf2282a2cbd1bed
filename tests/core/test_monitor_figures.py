"""Figures of a monitor promise no more than the certificate does."""

import math
from types import SimpleNamespace

import pytest

from certiset.core.monitor_figures import coverage


@pytest.mark.parametrize("reported", [0, 5])
def test_a_promise_is_never_rounded_up(reported: int) -> None:
    path = [SimpleNamespace(outcomes=n, misses=0, log_capital=0.0) for n in range(1, reported + 1)]
    monitor = SimpleNamespace(path=path, eta=1e-7, promised_miscoverage=1e-7, log_threshold=math.log(1e7))
    assert "At least 99.99999 % are promised." in coverage(monitor).description
    monitor.promised_miscoverage = 0.1
    assert "At least 90 % are promised." in coverage(monitor).description
