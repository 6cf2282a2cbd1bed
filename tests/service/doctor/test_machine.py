"""Limits of a container, and what the kernel offers."""

import resource
import sys
from pathlib import Path

import pytest

from certiset.core import landlock
from certiset.core.settings import Settings
from certiset.service.doctor import kernel, limits
from certiset.service.doctor.finding import Finding


def findings(cgroup: Path) -> dict[str, Finding]:
    return {finding.check: finding for finding in limits.check_limits(Settings(home=cgroup), cgroup)}


def test_a_container_that_is_too_small(tmp_path: Path) -> None:
    (tmp_path / "memory.max").write_text("536870912\n")
    (tmp_path / "pids.max").write_text("64\n")
    found = findings(tmp_path)
    assert (found["memory"].state, found["processes"].state) == ("warning", "warning")
    assert "0.5 GiB" in found["memory"].message
    assert "CERTISET_CACHE_BYTES" in found["memory"].message


@pytest.mark.parametrize("name", ["memory.max", "memory/memory.limit_in_bytes"])
def test_no_limit_is_none(tmp_path: Path, name: str) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("max\n" if name == "memory.max" else "9223372036854771712\n")
    (tmp_path / "pids.max").write_text("max\n")
    found = findings(tmp_path)
    assert found["processes"].message == "no limit of a container"
    assert found["memory"].message == findings(tmp_path / "none")["memory"].message, "the machine's own"


def test_few_open_files_are_a_warning(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (1024, hard))
    try:
        finding = findings(tmp_path)["open files"]
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert finding.state == "warning"
    assert "ulimit -n 4096" in finding.message


@pytest.mark.skipif(sys.platform != "linux", reason="Only Linux has Landlock.")
def test_landlock_and_namespaces_are_tried_and_leave_this_process_alone() -> None:
    before = Path("/proc/self/ns/net").readlink()
    found = {finding.check: finding for finding in kernel.check_kernel()}
    assert set(found) == {"landlock", "namespaces"}
    assert found["landlock"].state == ("ok" if landlock.version() else "warning")
    assert Path("/proc/self/ns/net").readlink() == before


def test_a_kernel_without_landlock_is_a_warning_with_advice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(landlock, "version", lambda: 0)
    found = {finding.check: finding for finding in kernel.check_kernel()}
    assert found["landlock"].state == "warning"
    assert "5.13" in found["landlock"].message
