"""The whole store behind one name: a transaction with all repositories, and the artifact files."""

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy.orm import Session

from certiset.core.scratch import scratch_file
from certiset.core.settings import Settings
from certiset.core.store.artifacts import Artifacts
from certiset.core.store.attempts import Attempts
from certiset.core.store.audit import SERVICE, Actor, AuditLog
from certiset.core.store.calibrations import Calibrations
from certiset.core.store.certificates import Certificates
from certiset.core.store.corrections import Corrections
from certiset.core.store.database import Database
from certiset.core.store.datasets import Datasets
from certiset.core.store.keys import ApiKeys
from certiset.core.store.leases import Leases
from certiset.core.store.models import Models
from certiset.core.store.outcomes import Outcomes
from certiset.core.store.predictors import Predictors
from certiset.core.store.reports import Reports
from certiset.core.store.schema import is_current, require_current
from certiset.core.store.statistics import Statistics
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
        self.leases = Leases(session, self.audit, settings.lease_seconds, settings.max_attempts, settings.retry_seconds)
        self.tenants = Tenants(session, settings)
        self.tenant_records = TenantRecords(session)
        self.turns = Turns(session, settings, self.leases, self.tenants)
        self.reports = Reports(session)
        self.predictors = Predictors(session)
        self.certificates = Certificates(session)
        self.attempts = Attempts(session)
        self.outcomes = Outcomes(session)
        self.corrections = Corrections(session)
        self.statistics = Statistics(session)


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

    @contextmanager
    def local_file(self, artifact: str) -> Iterator[Path]:
        """A stored file, checked, as a file of this machine: a copy, while the block lasts, if the store is elsewhere.

        However large it is, it is never in memory as a whole.
        """
        file = self.artifacts.local_file(artifact)
        if file is not None:
            yield file
            return
        with scratch_file(self.settings.scratch, self.artifacts.pieces(artifact)) as copied:
            yield copied

    def close(self) -> None:
        self.database.close()
