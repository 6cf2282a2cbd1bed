"""How many event streams a key may hold open."""

from collections import Counter

MOST = 32


class Streams:
    """Used from the event loop alone."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._open: Counter[str] = Counter()

    @property
    def open(self) -> int:
        """Those of all keys."""
        return self._open.total()

    def take(self, key_id: str) -> bool:
        """Takes a place, if there is one: whoever asks next already finds it taken."""
        if self._open[key_id] >= self._most:
            return False
        self._open[key_id] += 1
        return True

    def give_back(self, key_id: str) -> None:
        self._open[key_id] -= 1
        if not self._open[key_id]:
            del self._open[key_id]
