"""What a fit may use: one GPU, or the CPU with as many threads as the container allows."""

import math
import os
import queue
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from certiset.core.errors import SettingsError
from certiset.core.settings import Settings

_CPU_LIMIT = Path("/sys/fs/cgroup/cpu.max")
_CPU_LIMIT_OLD = (Path("/sys/fs/cgroup/cpu/cpu.cfs_quota_us"), Path("/sys/fs/cgroup/cpu/cpu.cfs_period_us"))


@dataclass(frozen=True)
class Slot:
    """A device, and the environment in which a process sees no other."""

    name: str
    device: str
    """as `certiset.core.fit` calls it"""
    environment: dict[str, str]


class Slots:
    """One job per device: whoever takes a slot has exclusive use of it until it is put back."""

    def __init__(self, slots: list[Slot]) -> None:
        self.count = len(slots)
        self._free: queue.SimpleQueue[Slot] = queue.SimpleQueue()
        for slot in slots:
            self._free.put(slot)

    def take(self, wait: float) -> Slot | None:
        try:
            return self._free.get(timeout=wait) if wait > 0 else self._free.get_nowait()
        except queue.Empty:
            return None

    def put_back(self, slot: Slot) -> None:
        self._free.put(slot)


def find_slots(settings: Settings, environment: Mapping[str, str], devices: Path = Path("/dev")) -> list[Slot]:
    gpus = _gpus(environment, devices) if settings.device in ("auto", "cuda") else []
    if settings.device == "cuda" and not gpus:
        raise SettingsError("CERTISET_DEVICE is cuda, but no GPU is visible here.")
    threads = settings.threads or max(1, cpu_limit() // max(1, len(gpus)))
    limits = {name: str(threads) for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")}
    # Threads that wait must not spin: beside other work on the same cores, that makes a fit many times slower.
    limits["OMP_WAIT_POLICY"] = environment.get("OMP_WAIT_POLICY", "PASSIVE")
    if not gpus:
        return [Slot("cpu", "cpu", {**limits, "CUDA_VISIBLE_DEVICES": ""})]
    return [Slot(f"gpu {gpu}", "cuda", {**limits, "CUDA_VISIBLE_DEVICES": gpu}) for gpu in gpus]


def _gpus(environment: Mapping[str, str], devices: Path) -> list[str]:
    visible = environment.get("CUDA_VISIBLE_DEVICES")
    if visible is not None:
        return [gpu.strip() for gpu in visible.split(",") if gpu.strip() not in ("", "-1", "NoDevFiles")]
    numbers = [re.fullmatch(r"nvidia(\d+)", entry.name) for entry in devices.glob("nvidia*")]
    return sorted((found[1] for found in numbers if found), key=int)


def cpu_limit() -> int:
    """CPUs that this process may use: its affinity, and the container's quota rounded up."""
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quota = _quota()
    return max(1, min(available, math.ceil(quota))) if quota else available


def _quota() -> float | None:
    try:
        if _CPU_LIMIT.exists():
            limit, period = _CPU_LIMIT.read_text().split()
        else:
            limit, period = (file.read_text().strip() for file in _CPU_LIMIT_OLD)
        return float(limit) / float(period) if limit not in ("max", "-1") else None
    except (OSError, ValueError):
        return None
