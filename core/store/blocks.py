"""Blocks of reported outcomes: filled row by row, closed by count or calendar, and then calibrated on once."""

import secrets
from collections.abc import Sequence

from sqlalchemy import delete, or_, select, update
from sqlalchemy.orm import Session

from certiset.core.resources import FINISHED
from certiset.core.store.clock import now
from certiset.core.store.deployment_records import DeploymentBlockRecord, DeploymentRecord, DeploymentRowRecord
from certiset.core.store.records import Calibration

_WAITING = ("closed", "calibrating")


class Blocks:
    """Whoever changes a block has locked its deployment."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def begin(self, record: DeploymentRecord, at: float, *, later_rows_alone: bool) -> None:
        """A new open block; ``later_rows_alone``: of predictions that are asked for from now on."""
        record.block += 1
        record.block_rows, record.block_issued, record.block_began = 0, record.issued, at
        if later_rows_alone:
            record.rows_after = at

    def add_row(
        self, record: DeploymentRecord, prediction: str, x: bytes, y: list[float], group: Sequence[str] | None = None
    ) -> None:
        record.block_rows += 1
        self._session.add(
            DeploymentRowRecord(
                tenant=record.tenant,
                prediction=prediction,
                token=record.token,
                block=record.block,
                number=record.block_rows,
                x=x,
                y=y,
                group_name=None if group is None else list(group),
                bytes=len(x) + 8 * len(y) + sum(len(value.encode()) for value in group or ()),
            )
        )

    def close(self, record: DeploymentRecord, at: float) -> DeploymentBlockRecord:
        """The open block ends, and the next one begins."""
        made = DeploymentBlockRecord(
            tenant=record.tenant,
            token=record.token,
            number=record.block,
            name=record.name,
            request_key=f"block-{secrets.token_hex(16)}",
            rows=record.block_rows,
            issued=max(0, record.issued - record.block_issued),
            began_at=record.block_began or at,
            closed_at=at,
            retry_at=0.0,
            spent=record.spent,
        )
        self._session.add(made)
        self.begin(record, at, later_rows_alone=False)
        self._session.flush()
        return made

    def drop(self, record: DeploymentRecord) -> list[str]:
        """No row that was collected so far calibrates anything; returns calibrations that are not needed any more."""
        rows, block = DeploymentRowRecord, DeploymentBlockRecord
        self._session.execute(delete(rows).where(rows.tenant == record.tenant, rows.token == record.token))
        needless = self.calibrations_of(record)
        self._session.execute(
            update(block)
            .where(block.tenant == record.tenant, block.token == record.token, block.state.in_(_WAITING))
            .values(state="dropped")
            .execution_options(synchronize_session="fetch")
        )
        record.block_rows = 0
        return needless

    def calibrations_of(self, record: DeploymentRecord) -> list[str]:
        """Of blocks whose calibration has not ended."""
        block = DeploymentBlockRecord
        chosen = select(block.calibration_id).where(
            block.tenant == record.tenant, block.token == record.token, block.state == "calibrating"
        )
        return [id for id in self._session.scalars(chosen.order_by(block.number)) if id is not None]

    def due(self, limit: int = 20) -> Sequence[DeploymentBlockRecord]:
        """Blocks with something to do: closed ones, and those whose calibration has ended, was deleted, or was lost."""
        block = DeploymentBlockRecord
        chosen = (
            select(block)
            .outerjoin(Calibration, Calibration.id == block.calibration_id)
            .where(
                or_(
                    (block.state == "closed") & (block.retry_at <= now()),
                    (block.state == "calibrating") & or_(Calibration.status.in_(FINISHED), Calibration.id.is_(None)),
                )
            )
            .order_by(block.closed_at)
            .limit(limit)
        )
        return self._session.scalars(chosen).all()

    def get(self, block: DeploymentBlockRecord) -> DeploymentBlockRecord | None:
        """As it is now, locked."""
        key = (block.tenant, block.token, block.number)
        return self._session.get(DeploymentBlockRecord, key, with_for_update=True, populate_existing=True)

    def of_request(self, tenant: str, request_key: str) -> DeploymentBlockRecord | None:
        chosen = select(DeploymentBlockRecord).where(
            DeploymentBlockRecord.tenant == tenant, DeploymentBlockRecord.request_key == request_key
        )
        return self._session.scalars(chosen).one_or_none()

    def rows(self, block: DeploymentBlockRecord) -> Sequence[DeploymentRowRecord]:
        """In one order for every worker: where a row was annulled, two others may share a number."""
        row = DeploymentRowRecord
        chosen = select(row).where(row.tenant == block.tenant, row.token == block.token, row.block == block.number)
        return self._session.scalars(chosen.order_by(row.number, row.prediction)).all()

    def clear(self, record: DeploymentRecord) -> None:
        """Removes the rows of the open block."""
        row = DeploymentRowRecord
        self._session.flush()
        self._session.execute(
            delete(row).where(row.tenant == record.tenant, row.token == record.token, row.block == record.block)
        )
        record.block_rows = 0

    def remove_rows(self, block: DeploymentBlockRecord) -> None:
        row = DeploymentRowRecord
        self._session.execute(
            delete(row).where(row.tenant == block.tenant, row.token == block.token, row.block == block.number)
        )

    def waits(self, block: DeploymentBlockRecord) -> bool:
        """Whether an earlier block of the same deployment has something to do before."""
        other = DeploymentBlockRecord
        chosen = select(other.number).where(
            other.tenant == block.tenant,
            other.token == block.token,
            other.number < block.number,
            other.state.in_(_WAITING),
        )
        return self._session.scalars(chosen.limit(1)).first() is not None

    def later_is_served(self, block: DeploymentBlockRecord) -> bool:
        other = DeploymentBlockRecord
        chosen = select(other.number).where(
            other.tenant == block.tenant,
            other.token == block.token,
            other.number > block.number,
            other.state == "served",
        )
        return self._session.scalars(chosen.limit(1)).first() is not None

    def row(self, tenant: str, prediction: str) -> DeploymentRowRecord | None:
        return self._session.get(DeploymentRowRecord, (tenant, prediction), populate_existing=True)

    def ended(self, at: float, limit: int = 20) -> list[tuple[str, str]]:
        """(tenant, name) of deployments whose open block may have ended by the calendar."""
        record = DeploymentRecord
        chosen = select(record).where(record.block_began.is_not(None), record.block_rows > 0)
        found = []
        for one in self._session.scalars(chosen):
            days = ((one.recalibrate or {}).get("every") or {}).get("days")
            if days is not None and one.block_began is not None and one.block_began + 86400.0 * days <= at:
                found.append((one.tenant, one.name))
        return found[:limit]

    def outdated_rows(self, before: float, limit: int = 1000) -> Sequence[DeploymentRowRecord]:
        row = DeploymentRowRecord
        return self._session.scalars(select(row).where(row.created_at < before).limit(limit)).all()

    def outdated_datasets(self, before: float, limit: int = 100) -> Sequence[DeploymentBlockRecord]:
        """Blocks that have been closed for long and whose data set may still be there."""
        block = DeploymentBlockRecord
        chosen = select(block).where(
            block.closed_at < before, block.dataset_id.is_not(None), block.state.not_in(_WAITING)
        )
        return self._session.scalars(chosen.limit(limit)).all()
