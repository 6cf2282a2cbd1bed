"""Whose rows are computed next: tenants take turns, and so do the requests of one tenant.

Surplus round robin. At each turn a tenant gains a quantum of credit and has rows computed until it is spent; a row that
costs more is computed all the same and paid for by waiting. A large request is thereby cut into pieces between which
everybody else has a turn.
"""

from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, Protocol, TypeVar


class Divisible(Protocol):
    """A request for so many rows, which can be computed in pieces."""

    @property
    def tenant(self) -> str: ...

    @property
    def rows(self) -> int: ...

    @property
    def price(self) -> float:
        """of one row; it may change between two pieces"""
        ...

    @property
    def is_over(self) -> bool:
        """whether nobody waits for it any more"""
        ...


R = TypeVar("R", bound=Divisible)


class Piece(NamedTuple, Generic[R]):
    request: R
    start: int
    end: int


@dataclass
class _Line(Generic[R]):
    """The requests of one tenant, each with the first row that is still to be computed."""

    waiting: deque[tuple[R, int]] = field(default_factory=deque)
    credit: float = 0.0


class Turns(Generic[R]):
    def __init__(self, quantum: float) -> None:
        self._quantum = quantum
        self._lines: OrderedDict[str, _Line[R]] = OrderedDict()

    def __bool__(self) -> bool:
        return bool(self._lines)

    def add(self, request: R) -> None:
        self._lines.setdefault(request.tenant, _Line()).waiting.append((request, 0))

    def next(self) -> list[Piece[R]]:
        """What the tenant whose turn it is has computed now; empty if nobody waits."""
        while self._lines:
            tenant, line = next(iter(self._lines.items()))
            self._lines.move_to_end(tenant)
            line.credit += self._quantum
            pieces = _spend(line)
            if not line.waiting:
                # Credit is no savings account: it would let an idle tenant hold up everybody later.
                del self._lines[tenant]
            if pieces:
                return pieces
        return []

    def charge(self, tenant: str, cost: float) -> None:
        """For rows that turned out to cost more than their price."""
        line = self._lines.get(tenant)
        if line is not None:
            line.credit -= cost

    def drop(self, then: Callable[[R], None]) -> None:
        """Ends all that wait."""
        for line in self._lines.values():
            for request, _ in line.waiting:
                then(request)
        self._lines.clear()


def _spend(line: _Line[R]) -> list[Piece[R]]:
    pieces: list[Piece[R]] = []
    while line.waiting and line.credit > 0:
        request, start = line.waiting[0]
        if request.is_over:
            line.waiting.popleft()
            continue
        rows = int(line.credit // request.price)
        if not rows:
            if pieces:
                break
            rows = 1
        end = min(request.rows, start + rows)
        line.waiting.popleft()
        if end < request.rows:
            line.waiting.append((request, end))
        pieces.append(Piece(request, start, end))
        line.credit -= (end - start) * request.price
    return pieces
