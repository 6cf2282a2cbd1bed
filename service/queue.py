"""Announces calibrations to the workers, by the task's name: the service knows nothing else of them."""

import logging

from celery import Celery

from core.errors import first_line
from core.messages import FIT_TASK, QUEUE, broker_url, prepare_broker, transport_options
from core.settings import Settings

_log = logging.getLogger(__name__)


class TaskQueue:
    def __init__(self, settings: Settings) -> None:
        prepare_broker(settings)
        self._app = Celery("certiset", set_as_current=False)
        self._app.conf.update(
            broker_url=broker_url(settings),
            broker_transport_options=transport_options(settings),
            broker_connection_timeout=2,
            task_serializer="json",
            accept_content=["json"],
        )

    def announce(self, calibration_id: str) -> bool:
        """To be called after the commit. If the broker is away, the workers' sweepers announce the job later."""
        try:
            self._app.send_task(FIT_TASK, args=[calibration_id], queue=QUEUE, ignore_result=True, retry=False)
        except Exception as error:
            # Kombu raises whatever its transports do.
            _log.warning("%s could not be announced now: %s", calibration_id, first_line(error))
            return False
        return True

    def ping(self) -> None:
        """Raises if the broker cannot be reached."""
        with self._app.connection_for_write(connect_timeout=2) as connection:
            connection.ensure_connection(max_retries=1, timeout=2)

    def close(self) -> None:
        self._app.close()
