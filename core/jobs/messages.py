"""What those who send a fit's message and those who take it agree on. Plain data: knows no queue library.

A message wakes a worker, which then asks the database whose turn it is. It names the calibration that was queued, for
logs and for workers of earlier versions, which fitted that one. A message that is lost, late or doubled therefore costs
time at most.
"""

from pathlib import Path
from typing import Any

from certiset.core.settings import Settings

FIT_TASK = "certiset.fit"
"""the name of the task; it takes one argument, the calibration's id"""
QUEUE = "certiset"

_VISIBILITY_MARGIN = 600.0


def fit_message(calibration_id: str) -> dict[str, Any]:
    """The arguments of Celery's ``send_task``. One try: a message that cannot be sent now is sent by the sweepers."""
    return {"name": FIT_TASK, "args": [calibration_id], "queue": QUEUE, "ignore_result": True, "retry": False}


def celery_configuration(settings: Settings) -> dict[str, Any]:
    """The same for those who send and those who take."""
    return {
        "broker_url": settings.broker_url or "filesystem://",
        "broker_transport_options": _transport_options(settings),
        "broker_connection_timeout": 2,
        "broker_connection_retry_on_startup": True,
        "broker_connection_max_retries": None,
        "task_default_queue": QUEUE,
        "task_ignore_result": True,
        "task_serializer": "json",
        "accept_content": ["json"],
        # A message is gone only when its fit has ended; until then another worker may have to take it.
        "task_acks_late": True,
        "worker_prefetch_multiplier": 1,
        # Fits are watched through the database; chatter between workers only adds ways to lose the broker.
        "worker_enable_remote_control": False,
        "worker_send_task_events": False,
        "worker_hijack_root_logger": False,
        # Running fits are protected by their leases, not by the broker's connection.
        "worker_cancel_long_running_tasks_on_connection_loss": False,
    }


def prepare_broker(settings: Settings) -> None:
    """Makes the embedded broker's folders."""
    if not settings.broker_url:
        for name in ("queue", "control"):
            (_folder(settings) / name).mkdir(parents=True, exist_ok=True)


def _transport_options(settings: Settings) -> dict[str, Any]:
    """Folders of the embedded broker, time limits of Redis."""
    if settings.broker_url:
        return {
            # Longer than the longest fit: Redis gives an unacknowledged message to a second worker after this time.
            "visibility_timeout": settings.fit_seconds + _VISIBILITY_MARGIN,
            # A silent broker counts as unavailable: nobody may hang on it.
            "socket_timeout": 5.0,
            "socket_connect_timeout": 2.0,
            "socket_keepalive": True,
            "health_check_interval": 10,
            # For those who send: one try, and the sweepers do the rest.
            "max_retries": 0,
            "interval_start": 0,
            "interval_step": 0.1,
            "interval_max": 0.2,
        }
    return {
        "data_folder_in": str(_folder(settings) / "queue"),
        "data_folder_out": str(_folder(settings) / "queue"),
        "control_folder": str(_folder(settings) / "control"),
        "polling_interval": 0.1,
    }


def _folder(settings: Settings) -> Path:
    return settings.home.absolute() / "broker"
