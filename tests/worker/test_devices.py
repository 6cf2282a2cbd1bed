from pathlib import Path

import pytest

from certiset.core.settings import Settings
from certiset.worker import devices
from certiset.worker.devices import Slots, cpu_limit, find_slots


def test_without_gpus_there_is_one_slot_with_the_containers_threads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    quota = tmp_path / "cpu.max"
    quota.write_text("150000 100000\n")
    monkeypatch.setattr(devices, "_CPU_LIMIT", quota)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(64)))
    (slot,) = find_slots(Settings(), {}, tmp_path)
    assert slot.device == "cpu"
    assert slot.environment["OMP_NUM_THREADS"] == "2"
    assert slot.environment["CUDA_VISIBLE_DEVICES"] == ""


@pytest.mark.parametrize(("limit", "cpus"), [("max 100000", 8), ("400000 100000", 4), ("1000 100000", 1), ("x", 8)])
def test_the_quota_of_the_container_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, cpus: int
) -> None:
    quota = tmp_path / "cpu.max"
    quota.write_text(limit)
    monkeypatch.setattr(devices, "_CPU_LIMIT", quota)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(8)))
    assert cpu_limit() == cpus


def test_each_gpu_is_a_slot_that_sees_no_other(tmp_path: Path) -> None:
    for name in ("nvidia0", "nvidia1", "nvidia10", "nvidiactl", "nvidia-uvm"):
        (tmp_path / name).touch()
    slots = find_slots(Settings(threads=3), {}, tmp_path)
    assert [slot.environment["CUDA_VISIBLE_DEVICES"] for slot in slots] == ["0", "1", "10"]
    assert {(slot.device, slot.environment["OMP_NUM_THREADS"]) for slot in slots} == {("cuda", "3")}


@pytest.mark.parametrize(
    ("visible", "found"), [("1,3", ["1", "3"]), ("GPU-8d2e,GPU-11aa", ["GPU-8d2e", "GPU-11aa"]), ("", []), ("-1", [])]
)
def test_cuda_visible_devices_is_obeyed(tmp_path: Path, visible: str, found: list[str]) -> None:
    (tmp_path / "nvidia0").touch()
    slots = find_slots(Settings(), {"CUDA_VISIBLE_DEVICES": visible}, tmp_path)
    assert [slot.environment["CUDA_VISIBLE_DEVICES"] for slot in slots] == (found or [""])


def test_the_cpu_can_be_asked_for_though_there_are_gpus(tmp_path: Path) -> None:
    (tmp_path / "nvidia0").touch()
    assert [slot.device for slot in find_slots(Settings(device="cpu"), {}, tmp_path)] == ["cpu"]


def test_a_slot_has_one_user(tmp_path: Path) -> None:
    slots = Slots(find_slots(Settings(), {}, tmp_path))
    slot = slots.take(0.0)
    assert slot is not None
    assert slots.take(0.0) is None
    assert slots.take(0.01) is None
    slots.put_back(slot)
    assert slots.take(0.0) == slot
