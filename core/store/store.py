"""The whole store behind one name: a transaction with all repositories, and the artifact files."""

import copy
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from sqlalchemy.orm import Session

from certiset.core.settings import Settings
from certiset.core.store.artifacts import Artifacts
from certiset.core.store.attempts import Attempts
from certiset.core.store.audit import SERVICE, Actor, AuditLog
from certiset.core.store.batch_records import BatchRecord
from certiset.core.store.batches import Batches
from certiset.core.store.blocks import Blocks
from certiset.core.store.calibrations import Calibrations
from certiset.core.store.certificates import Certificates
from certiset.core.store.corrections import Corrections
from certiset.core.store.database import Database
from certiset.core.store.datasets import Datasets
from certiset.core.store.deployments import Deployments
from certiset.core.store.job_kinds import kind_of
from certiset.core.store.keys import ApiKeys
from certiset.core.store.leases import Leases
from certiset.core.store.local_copy import local_copy
from certiset.core.store.models import Models
from certiset.core.store.outcomes import Outcomes
from certiset.core.store.overview import Overview
from certiset.core.store.predictors import Predictors
from certiset.core.store.reports import Reports
from certiset.core.store.schema import is_current, require_current
from certiset.core.store.statistics import Statistics
from certiset.core.store.summaries import Summaries
from certiset.core.store.tenant_records import TenantRecords
from certiset.core.store.tenants import Tenants
from certiset.core.store.turns import Turns


class Transaction:
    """Repositories that share one session; whoever opened it commits."""

    def __init__(self, session: Session, settings: Settings, actor: Actor) -> None:
        self.session = session
        self.audit = AuditLog(session, actor)
        self.keys = ApiKeys(session)
        self.datasets = Datasets(session)
        self.models = Models(session)
        self.calibrations = Calibrations(session)
        self.batches = Batches(session)
        self.leases = Leases(session, self.audit, settings.lease_seconds, settings.max_attempts, settings.retry_seconds)
        self.tenants = Tenants(session, settings)
        self.tenant_records = TenantRecords(session)
        self.turns = Turns(session, settings, self.leases, self.tenants)
        self.reports = Reports(session)
        self.predictors = Predictors(session)
        self.summaries = Summaries(session)
        self.overview = Overview(session)
        self.certificates = Certificates(session)
        self.deployments = Deployments(session)
        self.blocks = Blocks(session)
        self.attempts = Attempts(session)
        self.outcomes = Outcomes(session)
        self.corrections = Corrections(session)
        self.statistics = Statistics(session)

    def cancel(self, id: str) -> None:
        """A job of any kind: a queued one ends at once, a running one is asked to stop."""
        (self.batches if kind_of(id) is BatchRecord else self.calibrations).cancel(id)


class Store:
    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.actor = SERVICE
        self.database = Database(settings.database, settings.database_seconds)
        self.artifacts = Artifacts(settings.artifacts, settings.artifacts_seconds)

    @classmethod
    def ready(cls, settings: Settings) -> "Store":
        """A store with the schema of this version: the embedded database is migrated, any other must already be."""
        store = cls(settings)
        try:
            if not settings.embedded_database:
                require_current(store.database)
            elif not is_current(store.database):
                from certiset.core.store.migrate import migrate  # noqa: PLC0415 (Alembic is slow to load and rarely needed)

                migrate(store.database)
        except BaseException:
            store.close()
            raise
        return store

    def acting_for(self, actor: Actor) -> "Store":
        """The same store; what is changed through it is logged as this actor's doing."""
        other = copy.copy(self)
        other.actor = actor
        return other

    @contextmanager
    def reading(self) -> Iterator[Transaction]:
        with self.database.reading() as session:
            yield Transaction(session, self.settings, self.actor)

    @contextmanager
    def writing(self) -> Iterator[Transaction]:
        with self.database.writing() as session:
            yield Transaction(session, self.settings, self.actor)

    def local_file(self, artifact: str) -> AbstractContextManager[Path]:
        """A stored file, checked, as a file of this machine: see `local_copy`."""
        return local_copy(self.artifacts, artifact, self.settings.scratch)

    def close(self) -> None:
        self.database.close()
