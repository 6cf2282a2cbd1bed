"""Deployments: names that stand for predictors, switched under the lock of their row, with every event written down."""

import secrets
from collections.abc import Sequence
from typing import Any

from sqlalchemy import delete, func, select, update
from sqlalchemy.orm import Session

from certiset.core.errors import NotFoundError
from certiset.core.store.clock import now
from certiset.core.store.deployment_records import (
    DeploymentBlockRecord,
    DeploymentEventRecord,
    DeploymentRecord,
    DeploymentRowRecord,
)
from certiset.core.store.identifiers import is_predictor_id, nothing_called
from certiset.core.store.paging import Page
from certiset.core.store.records import PredictorRecord

SWITCHES = ("created", "switched", "rolled_back", "recalibrated")
"""kinds of events after which the name stands for the predictor that they name"""
DELETED = "deleted"
KEPT = 10_000
"""events kept per name"""


class Deployments:
    def __init__(self, session: Session) -> None:
        self._session = session

    def get(self, tenant: str, name: str) -> DeploymentRecord:
        found = self.find(tenant, name)
        if found is None:
            raise NotFoundError(self._nothing_called(tenant, name))
        return found

    def _nothing_called(self, tenant: str, name: str) -> str:
        """With the id of the newest predictor of that name, which may have been meant."""
        mine = (PredictorRecord.tenant == tenant, PredictorRecord.name == name, PredictorRecord.withdrawn_at.is_(None))
        named = select(PredictorRecord.id).where(*mine).order_by(PredictorRecord.created_at.desc()).limit(1)
        id = self._session.scalars(named).first()
        if id is not None:
            return f"There is no deployment {name}: {name!r} is a predictor's name; its id is {id}."
        return nothing_called("deployment", name)

    def find(self, tenant: str, name: str, *, lock: bool = False) -> DeploymentRecord | None:
        key = (tenant, name)
        return self._session.get(DeploymentRecord, key, with_for_update=lock or None, populate_existing=True)

    def of_token(self, tenant: str, token: str, *, lock: bool = False) -> DeploymentRecord | None:
        chosen = select(DeploymentRecord).where(DeploymentRecord.tenant == tenant, DeploymentRecord.token == token)
        chosen = chosen.with_for_update() if lock else chosen
        return self._session.scalars(chosen.execution_options(populate_existing=True)).one_or_none()

    def predictor_of(self, tenant: str, reference: str) -> str:
        """The predictor that an id or a name stands for now; whether there is one with that id is not looked at."""
        return reference if is_predictor_id(reference) else self.get(tenant, reference).predictor_id

    def standing_for(self, tenant: str, predictor_id: str) -> list[str]:
        """The names that stand for a predictor, in one order for everybody."""
        record = DeploymentRecord
        chosen = select(record.name).where(record.tenant == tenant, record.predictor_id == predictor_id)
        return list(self._session.scalars(chosen.order_by(record.name)))

    def recalibrating_with(self, tenant: str, model_id: str) -> str | None:
        """A deployment whose next predictors are made with this model."""
        chosen = select(DeploymentRecord).where(DeploymentRecord.tenant == tenant)
        collecting = (record for record in self._session.scalars(chosen) if record.recalibrate is not None)
        return next((one.name for one in collecting if (one.recipe or {}).get("model_id") == model_id), None)

    def add(self, tenant: str, name: str, predictor_id: str, **columns: Any) -> DeploymentRecord:
        """The version goes on where a deleted one of the same name ended; whoever calls it has locked the tenant."""
        record = DeploymentEventRecord
        chosen = select(func.max(record.version)).where(record.tenant == tenant, record.name == name)
        last = self._session.scalar(chosen) or 0
        made = DeploymentRecord(
            tenant=tenant,
            name=name,
            token=secrets.token_hex(8),
            predictor_id=predictor_id,
            version=last + 1,
            spent=0.0,
            generations=0,
            issued=0,
            block=0,
            block_rows=0,
            block_issued=0,
            **columns,
        )
        self._session.add(made)
        self._session.flush()
        self._session.refresh(made)
        return made

    def switch(self, record: DeploymentRecord, predictor_id: str) -> None:
        """The caller has locked the row."""
        record.predictor_id, record.version = predictor_id, record.version + 1
        record.since = self.time()

    def remove(self, record: DeploymentRecord) -> None:
        """With the rows that were collected; its events stay."""
        rows, blocks = DeploymentRowRecord, DeploymentBlockRecord
        self._session.execute(delete(rows).where(rows.tenant == record.tenant, rows.token == record.token))
        waiting = blocks.state.in_(("closed", "calibrating"))
        self._session.execute(
            update(blocks)
            .where(blocks.tenant == record.tenant, blocks.token == record.token, waiting)
            .values(state="dropped")
        )
        self._session.delete(record)

    def count_issued(self, tenant: str, token: str, sets: int) -> None:
        record = DeploymentRecord
        self._session.execute(
            update(record).where(record.tenant == tenant, record.token == token).values(issued=record.issued + sets)
        )

    def time(self) -> float:
        """Now, by the database's clock."""
        return float(self._session.scalar(select(now())) or 0.0)

    def record_event(
        self, record: DeploymentRecord, kind: str, details: dict[str, Any] | None = None
    ) -> DeploymentEventRecord:
        """What happened to a deployment, whose row the caller has locked."""
        event = DeploymentEventRecord
        mine = (event.tenant == record.tenant) & (event.name == record.name)
        number = (self._session.scalar(select(func.max(event.number)).where(mine)) or 0) + 1
        made = event(
            tenant=record.tenant,
            name=record.name,
            number=number,
            kind=kind,
            version=record.version,
            predictor_id=record.predictor_id,
            details=details,
        )
        self._session.add(made)
        self._session.flush()
        if number % 100 == 0:
            self._session.execute(delete(event).where(mine, event.number <= number - KEPT))
        return made

    def events_after(self, tenant: str, name: str, number: int, limit: int = 500) -> Sequence[DeploymentEventRecord]:
        """Those that came after the one with that number, oldest first."""
        event = DeploymentEventRecord
        chosen = select(event).where(event.tenant == tenant, event.name == name, event.number > number)
        return self._session.scalars(chosen.order_by(event.number).limit(limit)).all()

    def switches(self, tenant: str, name: str, *, limit: int, before: int | None = None) -> list[DeploymentEventRecord]:
        """What the name was made to stand for, newest first; that it was deleted is among them."""
        event = DeploymentEventRecord
        chosen = select(event).where(event.tenant == tenant, event.name == name, event.kind.in_((*SWITCHES, DELETED)))
        if before is not None:
            chosen = chosen.where(event.number < before)
        return list(self._session.scalars(chosen.order_by(event.number.desc()).limit(limit)))

    def next_switch(self, tenant: str, name: str, number: int) -> DeploymentEventRecord | None:
        """The first one after the event with that number."""
        event = DeploymentEventRecord
        chosen = select(event).where(
            event.tenant == tenant, event.name == name, event.number > number, event.kind.in_((*SWITCHES, DELETED))
        )
        return self._session.scalars(chosen.order_by(event.number).limit(1)).first()

    def has_stood_for(self, record: DeploymentRecord, predictor_id: str) -> bool:
        """This deployment itself, and none of the same name that was deleted."""
        event = DeploymentEventRecord
        mine = (event.tenant == record.tenant) & (event.name == record.name)
        deleted = self._session.scalar(select(func.max(event.number)).where(mine, event.kind == DELETED)) or 0
        chosen = select(event.number).where(mine, event.number > deleted, event.predictor_id == predictor_id)
        return self._session.scalars(chosen.where(event.kind.in_(SWITCHES)).limit(1)).first() is not None

    def list(self, tenant: str, *, limit: int = 50, cursor: str | None = None) -> Page[DeploymentRecord]:
        """By name."""
        chosen = select(DeploymentRecord).where(DeploymentRecord.tenant == tenant)
        if cursor is not None:
            chosen = chosen.where(DeploymentRecord.name > cursor)
        found = [*self._session.scalars(chosen.order_by(DeploymentRecord.name).limit(limit + 1))]
        return Page(found[:limit], found[limit - 1].name if len(found) > limit else None)
