"""Shares of what a process has: no tenant can take all of it, and none is refused for what another one holds."""

from collections import OrderedDict

from anyio import CapacityLimiter

_TENANT_SHARE = 2
"""one tenant holds at most this part of the whole: a half"""
_RESERVED_SHARE = 64
"""and may hold this part of it even if others have taken everything"""
_REMEMBERED = 1000


class Shares:
    """A budget of numbers or bytes. Used from the event loop alone."""

    def __init__(self, total: int) -> None:
        self._total, self._most = total, max(1, total // _TENANT_SHARE)
        self._reserved = total // _RESERVED_SHARE
        self._held: dict[str, int] = {}
        self._all = 0

    @property
    def all(self) -> int:
        """what is held by everybody together"""
        return self._all

    def take(self, tenant: str, amount: int) -> int | None:
        """What is now held for it, to be released; None if it does not fit. Whoever holds nothing has room for one.

        A request that is larger than a tenant's part is counted as that part: it is let in alone.
        """
        counted, held = min(amount, self._most), self._held.get(tenant, 0)
        fits = held + counted <= self._most and self._all + counted <= self._total
        if not fits and held + counted > self._reserved:
            return None
        self._held[tenant] = held + counted
        self._all += counted
        return counted

    def give_back(self, tenant: str, counted: int) -> None:
        left = self._held[tenant] - counted
        if left:
            self._held[tenant] = left
        else:
            del self._held[tenant]
        self._all -= counted


class Slots:
    """Threads for heavy work, so many for each tenant: who fills her own keeps nobody else waiting."""

    def __init__(self, each: int) -> None:
        self._each = each
        self._limiters: OrderedDict[str, CapacityLimiter] = OrderedDict()

    def of(self, tenant: str) -> CapacityLimiter:
        found = self._limiters.get(tenant)
        if found is None:
            found = self._limiters[tenant] = CapacityLimiter(self._each)
            self._forget()
        self._limiters.move_to_end(tenant)
        return found

    def _forget(self) -> None:
        """The idle ones that were not asked for longest, once there are many."""
        for tenant in list(self._limiters)[: max(0, len(self._limiters) - _REMEMBERED)]:
            if not self._limiters[tenant].borrowed_tokens:
                del self._limiters[tenant]
