"""Tenants: locked while records are added or deleted, so that quotas and deletions cannot be raced."""

from dataclasses import replace

from sqlalchemy import Select, func, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from certiset.core.errors import ConflictError
from certiset.core.settings import Settings
from certiset.core.store.batch_records import BatchRecord
from certiset.core.store.clock import now
from certiset.core.store.deployment_records import DeploymentRecord, DeploymentRowRecord
from certiset.core.store.job_columns import JobColumns
from certiset.core.store.job_kinds import JOBS
from certiset.core.store.quotas import Amounts, refuse_excess
from certiset.core.store.records import ApiKey, Calibration, CertificateRecord, Dataset, ModelRecord, PredictorRecord
from certiset.core.store.records import Tenant as TenantRecord


class Tenants:
    def __init__(self, session: Session, settings: Settings) -> None:
        self._session, self._settings = session, settings

    def lock(self, name: str) -> TenantRecord:
        """The tenant's row, locked until the commit. Whoever adds or deletes its records locks it first."""
        insert = (postgresql if self._session.get_bind().dialect.name == "postgresql" else sqlite).insert
        self._session.execute(insert(TenantRecord).values(name=name, served_at=0.0, quotas={}).on_conflict_do_nothing())
        return self._session.get_one(TenantRecord, name, with_for_update=True, populate_existing=True)

    def admit(self, name: str, wanted: Amounts) -> None:
        """Locks the tenant, and raises an error unless it may have so much more."""
        if self.lock(name).erasing_since is not None:
            raise ConflictError("Everything of this tenant is being erased: nothing can be added.")
        self.check(name, wanted)

    def check(self, name: str, wanted: Amounts) -> None:
        """The same without a lock, to refuse early what will not be admitted."""
        used = self.usage(name)
        # Each calibration that has not ended may become a predictor.
        expected = replace(used, predictors=used.predictors + sum(self._unfinished(name, Calibration).values()))
        refuse_excess(expected, wanted, self.allowed(name))

    def check_total(self, name: str, added: Amounts) -> None:
        """Raises an error if what was added in this transaction is too much."""
        used = self.usage(name)
        before = replace(used, rows=used.rows - added.rows, bytes=used.bytes - added.bytes)
        refuse_excess(before, added, self.allowed(name))

    def allowed(self, name: str) -> Amounts:
        found = self._session.get(TenantRecord, name)
        return Amounts.allowed(self._settings, found.quotas if found is not None else {})

    def set_quotas(self, name: str, changes: dict[str, int | None]) -> Amounts:
        """None returns to what the settings say."""
        record = self.lock(name)
        merged = {**record.quotas, **changes}
        record.quotas = {key: value for key, value in merged.items() if value is not None}
        return Amounts.allowed(self._settings, record.quotas)

    def row_key(self, name: str) -> str | None:
        found = self._session.get(TenantRecord, name)
        return None if found is None else found.row_key

    def set_row_key(self, name: str, artifact: str, *, instead_of: str | None) -> str:
        """The key that is used from now on, which is another one if somebody was quicker."""
        record = self.lock(name)
        if record.row_key is None or record.row_key == instead_of:
            record.row_key = artifact
        return record.row_key

    def begin_erasing(self, name: str) -> None:
        """From now on nothing is added."""
        self.lock(name)
        self._session.execute(update(TenantRecord).where(TenantRecord.name == name).values(erasing_since=now()))

    def usage(self, name: str) -> Amounts:
        dataset, model, predictor = Dataset, ModelRecord, PredictorRecord
        data = self._totals(select(func.count(), func.sum(dataset.stored_bytes), func.sum(dataset.rows)), dataset, name)
        models = self._totals(select(func.count(), func.sum(model.bytes)), model, name)
        live = select(func.count(), func.sum(predictor.stored_bytes)).where(predictor.withdrawn_at.is_(None))
        predictors = self._totals(live, predictor, name)
        names = self._session.scalar(
            select(func.count()).select_from(DeploymentRecord).where(DeploymentRecord.tenant == name)
        )
        collected = select(func.count(), func.sum(DeploymentRowRecord.bytes))
        rows, kept = self._session.execute(collected.where(DeploymentRowRecord.tenant == name)).one()
        answers = self._totals(select(func.sum(BatchRecord.stored_bytes)), BatchRecord, name)
        jobs = [self._unfinished(name, job) for job in JOBS]
        return Amounts(
            bytes=data[1] + models[1] + predictors[1] + answers[0] + int(kept or 0),
            rows=data[2] + int(rows),
            datasets=data[0],
            models=models[0],
            predictors=predictors[0],
            queued_jobs=sum(each.get("queued", 0) for each in jobs),
            running_jobs=sum(each.get("running", 0) for each in jobs),
            deployments=int(names or 0),
        )

    def names(self) -> list[str]:
        """Of all tenants that have anything, keys included."""
        columns = (
            TenantRecord.name,
            ApiKey.tenant,
            Dataset.tenant,
            ModelRecord.tenant,
            Calibration.tenant,
            BatchRecord.tenant,
            PredictorRecord.tenant,
            CertificateRecord.tenant,
        )
        return sorted({name for column in columns for name in self._session.scalars(select(column).distinct())})

    def serve(self, name: str) -> None:
        """A worker begins one of its jobs; others are served before its next one."""
        self.lock(name)
        self._session.execute(update(TenantRecord).where(TenantRecord.name == name).values(served_at=now()))

    def _totals(
        self,
        chosen: Select[*tuple[int, ...]],
        table: type[Dataset | ModelRecord | PredictorRecord | BatchRecord],
        name: str,
    ) -> list[int]:
        return [int(total or 0) for total in self._session.execute(chosen.where(table.tenant == name)).one()]

    def _unfinished(self, name: str, job: type[JobColumns]) -> dict[str, int]:
        """How many of these jobs wait, and how many run."""
        chosen = select(job.status, func.count()).where(job.tenant == name, job.status.in_(("queued", "running")))
        return {status: int(number) for status, number in self._session.execute(chosen.group_by(job.status))}
