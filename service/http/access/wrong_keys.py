"""How many wrong keys an address may try in a minute. A right key is never counted, and never refused here."""

import time
from collections import OrderedDict
from dataclasses import dataclass, field

_WINDOW_SECONDS = 60.0
_REMEMBERED = 10_000


@dataclass
class WrongKeys:
    per_minute: int
    """0: no limit"""
    _tries: OrderedDict[str, tuple[float, int]] = field(default_factory=OrderedDict)
    """by address: (the end of its minute, wrong keys in it)"""

    def is_suspect(self, address: str) -> bool:
        """Whether the address has tried too many already."""
        if not self.per_minute:
            return False
        end, tries = self._tries.get(address, (0.0, 0))
        return tries >= self.per_minute and time.monotonic() < end

    def wait(self, address: str) -> float:
        """Counts one more: 0, or the seconds to wait if these are too many."""
        if not self.per_minute:
            return 0.0
        now = time.monotonic()
        end, tries = self._tries.pop(address, (0.0, 0))
        if now >= end:
            end, tries = now + _WINDOW_SECONDS, 0
        self._tries[address] = (end, tries + 1)
        while len(self._tries) > _REMEMBERED:
            self._tries.popitem(last=False)
        return end - now if tries >= self.per_minute else 0.0
