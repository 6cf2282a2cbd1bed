"""Reports on Redis, for those who would rather listen than ask. Never in the way of a fit."""

import json
import logging
import time
from typing import Any

import redis

from core.messages import progress_channel
from core.settings import Settings

_log = logging.getLogger(__name__)
_PAUSE_SECONDS = 10.0


class Publisher:
    """Publishes while Redis is there, and is silent for a while after it was not."""

    def __init__(self, settings: Settings) -> None:
        is_redis = settings.broker_url.startswith(("redis://", "rediss://", "unix://"))
        self._redis = (
            redis.Redis.from_url(settings.broker_url, socket_timeout=1, socket_connect_timeout=1) if is_redis else None
        )
        self._silent_until = 0.0

    def publish(self, calibration_id: str, report: dict[str, Any]) -> None:
        if self._redis is None or time.monotonic() < self._silent_until:
            return
        try:
            self._redis.publish(progress_channel(calibration_id), json.dumps(report))
        except redis.RedisError as error:
            self._silent_until = time.monotonic() + _PAUSE_SECONDS
            _log.warning("Progress is not published for a while: %s", error)
