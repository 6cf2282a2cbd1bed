"""What a fit reported stays readable, in its order, and does not grow without end."""

import pytest

from certiset.core.store import Store, reports
from tests.core.store.records import a_calibration


def report(step: int) -> dict[str, object]:
    return {"phase": "fit", "step": step, "steps": 100, "fraction": step / 100, "metrics": {"kl": 0.5 * step}}


def test_every_report_of_the_lease_is_kept_in_order(store: Store) -> None:
    calibration, other = a_calibration(store), a_calibration(store)
    with store.writing() as work:
        claim = work.leases.claim(calibration.id)
        assert claim is not None
    for step in range(5):
        with store.writing() as work:
            assert work.leases.renew(claim, report(step)).held
            assert work.leases.renew(claim).held
    with store.reading() as work:
        kept = work.reports.after(calibration.id, 0)
        assert [(one.number, one.report) for one in kept] == [(step + 1, report(step)) for step in range(5)]
        assert [one.number for one in work.reports.after(calibration.id, 3)] == [4, 5]
        assert not work.reports.after(other.id, 0)


def test_a_lost_lease_reports_nothing(store: Store) -> None:
    calibration = a_calibration(store)
    with store.writing() as work:
        claim = work.leases.claim(calibration.id)
        assert claim is not None
        assert work.leases.release(claim)
    with store.writing() as work:
        assert not work.leases.renew(claim, report(1)).held
        assert not work.reports.after(calibration.id, 0)


def test_only_the_newest_are_kept(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reports, "KEPT", 10)
    calibration = a_calibration(store)
    with store.writing() as work:
        claim = work.leases.claim(calibration.id)
        assert claim is not None
        for step in range(25):
            work.leases.renew(claim, report(step))
    with store.reading() as work:
        assert [one.number for one in work.reports.after(calibration.id, 0)] == list(range(16, 26))
