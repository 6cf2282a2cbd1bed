"""One thread for small products, and afterwards as many as before, whatever happened."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
import torch

from certiset.core.errors import StoppedError
from certiset.core.fit import fit
from certiset.core.fit.threads import CROSSOVER, suitable_threads
from tests.core.fit.problems import class_data, class_model

CPU = torch.device("cpu")


@pytest.fixture(autouse=True)
def two_threads() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize("method", ["auto", "learned", "pac_bayes", "progressive"])
def test_a_small_fit_uses_one_thread_and_gives_the_others_back(method: Any) -> None:
    seen: dict[str, set[int]] = {}

    def progress(event: dict[str, Any]) -> None:
        seen.setdefault(event["phase"], set()).add(torch.get_num_threads())

    options: dict[str, Any] = {"prior": {"steps": 10}, "optimizer": {"steps": 5}, "members": 4}
    fit(class_model(), *class_data(600, 0), method=method, progress=progress, **options)
    for phase in {"compare", "tune", "fit"} & set(seen):
        assert seen[phase] == {1}, phase
    assert torch.get_num_threads() == 2


def test_they_are_given_back_when_a_fit_fails() -> None:
    def fail(event: dict[str, Any]) -> None:
        if event["phase"] == "tune":
            raise RuntimeError("the caller's own")

    with pytest.raises(RuntimeError, match="the caller's own"):
        fit(class_model(), *class_data(600, 0), method="learned", prior={"steps": 10}, progress=fail)
    assert torch.get_num_threads() == 2
    with pytest.raises(StoppedError):
        fit(class_model(), *class_data(600, 0), method="learned", prior={"steps": 10}, should_stop=lambda: True)
    assert torch.get_num_threads() == 2


def test_large_heads_and_other_devices_keep_theirs() -> None:
    small = class_model()
    with suitable_threads(small, CPU):
        assert torch.get_num_threads() == 1
    large = replace(small, head_parameters=torch.zeros(CROSSOVER // 256 + 1))
    for model, device in ((large, CPU), (small, torch.device("meta"))):
        with suitable_threads(model, device):
            assert torch.get_num_threads() == 2
    assert torch.get_num_threads() == 2
