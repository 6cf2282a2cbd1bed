"""Settings for all tests."""

import os
import signal
from itertools import groupby

import pytest
import torch
from hypothesis import settings

from tests.scheduling import SharedScheduling
from tests.slow import ALONE, SLOW, is_in

# In CI the examples are the same every time; elsewhere they explore.
settings.register_profile("certiset", deadline=None, max_examples=100, derandomize="CI" in os.environ)
settings.load_profile("certiset")

# The suite runs in one process a core; more threads than that only wait for each other.
torch.set_num_threads(1)

# A shell lets what runs in the background ignore Ctrl-C, and so would every process that a test starts and interrupts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


_FIRST_PART = 0.6


def pytest_xdist_auto_num_workers() -> int:
    """Two more than there are cores: many tests wait for a server, a lease or a broker most of their time."""
    return (os.cpu_count() or 1) + 2


def spread(items: list[pytest.Item], folders: tuple[str, ...]) -> list[pytest.Item]:
    """The modules of these folders spread evenly over the first part of the others; the order is otherwise as it was.

    Their tests wait most of their time, and some modules take minutes. Beside tests that compute they cost next to
    nothing, but at the end, one after the other in one process, they leave the cores idle for as long.
    """
    modules = [list(group) for _, group in groupby(items, key=lambda item: item.nodeid.partition("::")[0])]
    apart = [module for module in modules if module[0].nodeid.startswith(folders)]
    others = [module for module in modules if not module[0].nodeid.startswith(folders)]
    step = _FIRST_PART * len(others) / max(len(apart), 1)
    for number, module in enumerate(apart):
        others.insert(number + int(number * step), module)
    return [item for module in others for item in module]


def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> SharedScheduling:
    return SharedScheduling(config, log)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if is_in(item.nodeid, SLOW):
            item.add_marker(pytest.mark.slow)
        if is_in(item.nodeid, ALONE):
            item.add_marker(pytest.mark.alone)
    items[:] = spread(items, ("tests/worker/", "tests/system/"))
    if config.args == config.getini("testpaths"):
        ids = [item.nodeid for item in items]
        unknown = [entry for entry in SLOW if not any(id.startswith(entry) for id in ids)]
        assert not unknown, f"tests/slow.py names tests that do not exist: {unknown}"
