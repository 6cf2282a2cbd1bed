"""A bucket of requests for each key, refilled steadily; a short burst of a second's worth is free."""

import time
from dataclasses import dataclass, field


@dataclass
class RateLimit:
    per_minute: int
    """0: no limit"""
    _buckets: dict[str, tuple[float, float]] = field(default_factory=dict)
    """key: (tokens, when they were counted)"""

    def wait(self, key: str) -> float:
        """0 if the request may go on, else the seconds after which it might."""
        if not self.per_minute:
            return 0.0
        rate = self.per_minute / 60
        largest = max(1.0, rate)
        now = time.monotonic()
        tokens, then = self._buckets.get(key, (largest, now))
        tokens = min(largest, tokens + (now - then) * rate)
        if tokens < 1:
            self._buckets[key] = (tokens, now)
            return (1 - tokens) / rate
        self._buckets[key] = (tokens - 1, now)
        return 0.0
