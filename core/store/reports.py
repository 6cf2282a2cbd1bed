"""Progress reports of fits, in order."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from certiset.core.store.records import ReportRecord

KEPT = 2000
"""reports kept per calibration; even a fit of several days makes fewer"""


class Reports:
    def __init__(self, session: Session) -> None:
        self._session = session

    def add(self, calibration_id: str, number: int, report: dict[str, Any]) -> None:
        self._session.add(ReportRecord(calibration_id=calibration_id, number=number, report=report))
        outdated = ReportRecord.number <= number - KEPT
        self._session.execute(delete(ReportRecord).where(ReportRecord.calibration_id == calibration_id, outdated))

    def after(self, calibration_id: str, number: int, limit: int = KEPT) -> Sequence[ReportRecord]:
        """Those that came after the one with that number, oldest first."""
        chosen = select(ReportRecord).where(ReportRecord.calibration_id == calibration_id, ReportRecord.number > number)
        return self._session.scalars(chosen.order_by(ReportRecord.number).limit(limit)).all()
