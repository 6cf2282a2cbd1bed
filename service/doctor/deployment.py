"""The three places for state: database, broker, artifact store. Each is written, read and left as it was."""

import secrets
import tempfile
import time
from collections.abc import Iterator

from celery import Celery

from certiset.core.errors import CertisetError, DamagedFileError, StoreError, first_line
from certiset.core.jobs.announcer import Announcer
from certiset.core.settings import Settings
from certiset.core.store import Artifacts, Database
from certiset.core.store.errors import driver_message
from certiset.core.store.probe import write_and_ask_time
from certiset.core.store.schema import SCHEMA, require_current
from certiset.service.doctor.finding import Finding

_LARGEST_DIFFERENCE = 5.0
"""seconds between this machine's clock and the database's"""
_EARLIEST = 1_735_689_600.0
"""2025: a clock that shows less was never set"""
_ANY_AGE = -86_400.0


def check_deployment(settings: Settings) -> Iterator[Finding]:
    file = settings.embedded_file
    if file is not None and not file.exists():
        yield Finding(
            "database",
            "failed",
            f"There is no deployment in {settings.home}: name its folder with --home, or start one with 'certiset up'.",
        )
        return
    yield from _database(settings)
    yield _broker(settings)
    yield _artifacts(settings)


def _database(settings: Settings) -> Iterator[Finding]:
    try:
        database = Database(settings.database)
    except (CertisetError, OSError) as error:
        yield Finding("database", "failed", f"The database cannot be used: {first_line(error)}")
        return
    try:
        require_current(database)
        difference = time.time() - write_and_ask_time(database)
        kind = "SQLite" if database.is_sqlite else "PostgreSQL"
        yield Finding("database", "ok", f"{kind} at revision {SCHEMA}, and can be written")
        yield _clock(difference)
    except StoreError as error:
        cause = f" ({driver_message(error)})" if error.__cause__ is not None else ""
        yield Finding("database", "failed", f"{error}{cause}")
    except Exception as error:
        # Whatever a driver raises: here it is a finding.
        yield Finding("database", "failed", f"The database cannot be written: {first_line(error)}")
    finally:
        database.close()


def _clock(difference: float) -> Finding:
    if time.time() < _EARLIEST:
        return Finding("clock", "failed", "This machine's clock was never set: set it, or start a time service.")
    if abs(difference) > _LARGEST_DIFFERENCE:
        words = f"This machine's clock is {abs(difference):.0f} s {'ahead of' if difference > 0 else 'behind'}"
        return Finding("clock", "warning", f"{words} the database's: synchronise both.")
    return Finding("clock", "ok", f"within {_LARGEST_DIFFERENCE:g} s of the database's")


def _broker(settings: Settings) -> Finding:
    if not settings.broker_url:
        try:
            with tempfile.TemporaryFile(dir=settings.home):
                return Finding("broker", "ok", f"embedded: files in {settings.home / 'broker'}")
        except OSError as error:
            return Finding("broker", "failed", f"{settings.home} cannot be written: {error.strerror}.")
    announcer = None
    try:
        announcer = Announcer.connect(settings, Celery)
        announcer.ping()
    except Exception as error:
        # Kombu raises whatever its transports do. Sets are served without a broker, and jobs only late.
        message = f"The broker does not answer, so that jobs start late: {first_line(error)}"
        return Finding("broker", "failed", f"{message}. Start it, or correct CERTISET_BROKER_URL.")
    finally:
        if announcer is not None:
            announcer.close()
    return Finding("broker", "ok", "answers")


def _artifacts(settings: Settings) -> Finding:
    content = secrets.token_bytes(64)
    try:
        artifacts = Artifacts(settings.artifacts)
        name = artifacts.put(content)
        try:
            same = artifacts.get(name) == content
        finally:
            removed = artifacts.discard(artifacts.file(name), _ANY_AGE)
    except DamagedFileError:
        return Finding("artifacts", "failed", "The artifact store does not return what was written to it.")
    except CertisetError as error:
        return Finding("artifacts", "failed", f"{error} Make it writable, or correct CERTISET_ARTIFACTS_URL.")
    if not (same and removed):
        return Finding("artifacts", "failed", "A file in the artifact store cannot be deleted: allow that as well.")
    return Finding("artifacts", "ok", "a file was written, read and deleted")
