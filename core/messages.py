"""What the service, which sends tasks, and the worker, which takes them, agree on. Plain data: knows no queue library.

A message carries a calibration's id and nothing else; the database holds the truth. A message that is lost, late or
doubled therefore costs time at most.
"""

from typing import Any

from core.settings import Settings

FIT_TASK = "certiset.fit"
QUEUE = "certiset"

_VISIBILITY_MARGIN = 600.0


def broker_url(settings: Settings) -> str:
    return settings.broker_url or "filesystem://"


def transport_options(settings: Settings) -> dict[str, Any]:
    """Options of the broker's transport: folders of the embedded one, patience of Redis."""
    if settings.broker_url:
        return {
            # Longer than the longest fit: Redis gives an unacknowledged message to a second worker after this time.
            "visibility_timeout": settings.fit_seconds + _VISIBILITY_MARGIN,
            # A broker that is silent is as good as gone: nobody may hang on it.
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
    folder = settings.home.absolute() / "broker"
    return {
        "data_folder_in": str(folder / "queue"),
        "data_folder_out": str(folder / "queue"),
        "control_folder": str(folder / "control"),
        "polling_interval": 0.1,
    }


def prepare_broker(settings: Settings) -> None:
    """Makes the embedded broker's folders."""
    if not settings.broker_url:
        for name in ("queue", "control"):
            (settings.home.absolute() / "broker" / name).mkdir(parents=True, exist_ok=True)


def progress_channel(calibration_id: str) -> str:
    """The Redis channel on which a calibration's reports are published."""
    return f"certiset:progress:{calibration_id}"
