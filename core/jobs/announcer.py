"""Tells the workers that a calibration is queued: the API, ``certiset jobs retry`` and the workers do so alike."""

import logging
import threading
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from certiset.core.errors import first_line
from certiset.core.jobs.messages import celery_configuration, fit_message, prepare_broker
from certiset.core.settings import Settings

_log = logging.getLogger(__name__)
_WAIT_SECONDS = 5.0
_PING_SECONDS = 2


class CeleryApp(Protocol):
    """What is needed of ``celery.Celery``, which this side does not import."""

    conf: Any

    def send_task(self, name: str, **options: Any) -> Any: ...

    def connection_for_write(self, **options: Any) -> Any: ...

    def close(self) -> None: ...


App = TypeVar("App", bound=CeleryApp)


def make_celery_app(settings: Settings, celery: Callable[..., App]) -> App:
    """An app of the class ``celery.Celery``, configured for this deployment; it connects on first use."""
    prepare_broker(settings)
    app = celery("certiset", set_as_current=False)
    app.conf.update(celery_configuration(settings))
    return app


class Announcer:
    """May be shared by threads."""

    def __init__(self, app: CeleryApp) -> None:
        self._app, self._lock = app, threading.Lock()

    @classmethod
    def connect(cls, settings: Settings, celery: Callable[..., CeleryApp]) -> "Announcer":
        """With an app of its own: ``Announcer.connect(settings, Celery)``."""
        return cls(make_celery_app(settings, celery))

    def announce(self, calibration_id: str) -> bool:
        """Whether the broker has the message. To be called after the commit.

        Never raises: if the broker is unavailable, the workers' sweepers announce the calibration later.
        """
        # A broker that hangs must not make every caller wait for all those before it.
        if not self._lock.acquire(timeout=_WAIT_SECONDS):
            _log.warning("%s could not be announced: the broker does not answer", calibration_id)
            return False
        try:
            self._app.send_task(**fit_message(calibration_id))
        except Exception as error:
            # Kombu raises whatever its transports do.
            _log.warning("%s could not be announced: %s", calibration_id, first_line(error))
            return False
        finally:
            self._lock.release()
        return True

    def ping(self) -> None:
        """Raises if the broker is unavailable."""
        with self._app.connection_for_write(connect_timeout=_PING_SECONDS) as connection:
            connection.ensure_connection(max_retries=1, timeout=_PING_SECONDS)

    def close(self) -> None:
        self._app.close()
