"""The whole store behind one name: a transaction with all repositories, and the artifact files."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.orm import Session

from certiset.core.settings import Settings
from certiset.core.store.artifacts import Artifacts
from certiset.core.store.calibrations import Calibrations
from certiset.core.store.certificates import Certificates
from certiset.core.store.database import Database
from certiset.core.store.datasets import Datasets
from certiset.core.store.keys import ApiKeys
from certiset.core.store.leases import Leases
from certiset.core.store.models import Models
from certiset.core.store.outcomes import Outcomes
from certiset.core.store.predictors import Predictors
from certiset.core.store.reports import Reports
from certiset.core.store.schema import is_current, require_current


class Transaction:
    """Repositories that share one session; whoever opened it commits."""

    def __init__(self, session: Session, settings: Settings) -> None:
        self.session = session
        self.keys = ApiKeys(session)
        self.datasets = Datasets(session)
        self.models = Models(session)
        self.calibrations = Calibrations(session)
        self.leases = Leases(session, settings.lease_seconds, settings.max_attempts, settings.retry_seconds)
        self.reports = Reports(session)
        self.predictors = Predictors(session)
        self.certificates = Certificates(session)
        self.outcomes = Outcomes(session)


class Store:
    def __init__(self, settings: Settings) -> None:
        self.settings = settings
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

    @contextmanager
    def reading(self) -> Iterator[Transaction]:
        with self.database.reading() as session:
            yield Transaction(session, self.settings)

    @contextmanager
    def writing(self) -> Iterator[Transaction]:
        with self.database.writing() as session:
            yield Transaction(session, self.settings)

    def close(self) -> None:
        self.database.close()
