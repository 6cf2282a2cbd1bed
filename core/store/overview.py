"""Calibrations and predictors as one list: searched, sorted and paged by the database, along its indexes.

A row is a predictor that is served, with the numbers of its certificate, or a calibration that has none (yet). A page
begins where the one before ended, by value and not by counting, so that the last page costs no more than the first.
"""

import base64
import binascii
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Select, select, tuple_
from sqlalchemy.orm import InstrumentedAttribute, Session

from certiset.core.errors import OptionError
from certiset.core.store.paging import Page
from certiset.core.store.records import Calibration, Dataset, ModelRecord, Monitor
from certiset.core.store.searching import contains
from certiset.core.store.summary_records import Summary
from certiset.core.store.text import printable

NEWEST, OLDEST = "newest", "oldest"
COLUMNS: dict[str, InstrumentedAttribute[Any]] = {
    "name": Summary.name,
    "alpha": Summary.alpha,
    "n": Summary.n,
    "size": Summary.size,
    "certified_size": Summary.certified_size,
}
SORTS = (NEWEST, OLDEST, *(f"{sign}{name}" for name in COLUMNS for sign in ("", "-")))
"""by which a list can be sorted; - for the largest first"""
OF_PREDICTORS = ("consistent", "contradicted")
OF_CALIBRATIONS = ("queued", "running", "failed", "cancelled")


@dataclass(frozen=True)
class Wanted:
    """What is asked for; everything that is not said is wanted."""

    search: str | None = None
    """in names and ids, of the predictor, its data and its model"""
    status: str | None = None
    dataset_id: str | None = None
    model_id: str | None = None
    method: str | None = None
    only_predictors: bool = False


@dataclass(frozen=True)
class Listed:
    """A row: a predictor and its monitor, or a calibration without predictor and the names of what it is made of."""

    key: str
    """the calibration's id"""
    summary: Summary | None = None
    monitor: Monitor | None = None
    calibration: Calibration | None = None
    dataset_name: str | None = None
    model_name: str | None = None


@dataclass(frozen=True)
class _Part:
    """Rows of one kind, in the order of their key; of those with a column, in the order of its values first."""

    key: InstrumentedAttribute[str]
    chosen: Select[*tuple[Any, ...]]
    read: Callable[[Any], Listed]
    column: InstrumentedAttribute[Any] | None = None

    def after(self, value: Any, key: str, *, downwards: bool) -> "_Part":
        """What comes after the row with that value and key."""
        if self.column is not None:
            pair, end = tuple_(self.column, self.key), (value, key)
            return replace(self, chosen=self.chosen.where(pair < end if downwards else pair > end))
        return replace(self, chosen=self.chosen.where(self.key < key if downwards else self.key > key))

    def first(self, session: Session, limit: int, *, downwards: bool) -> list[Listed]:
        columns = [self.key] if self.column is None else [self.column, self.key]
        order = [column.desc() if downwards else column.asc() for column in columns]
        return [self.read(row) for row in session.execute(self.chosen.order_by(*order).limit(limit))]


class Overview:
    def __init__(self, session: Session) -> None:
        self._session = session

    def list(
        self, tenant: str, wanted: Wanted, sort: str = NEWEST, *, limit: int = 50, cursor: str | None = None
    ) -> Page[Listed]:
        """Rows that lack the number by which they are sorted come last, newest first."""
        by = _by_age if sort in (NEWEST, OLDEST) else _by_column
        found = by(self._session, _parts(tenant, wanted), sort, limit + 1, cursor)
        more = len(found) > limit
        return Page([row for row, _ in found[:limit]], found[limit - 1][1] if more else None)


def _by_age(
    session: Session, parts: list[_Part], sort: str, limit: int, cursor: str | None
) -> list[tuple[Listed, str]]:
    downwards = sort == NEWEST
    rows: list[Listed] = []
    for part in parts:
        rest = part if cursor is None else part.after(None, cursor, downwards=downwards)
        rows += rest.first(session, limit, downwards=downwards)
    rows.sort(key=lambda row: row.key, reverse=downwards)
    return [(row, row.key) for row in rows[:limit]]


def _by_column(
    session: Session, parts: list[_Part], sort: str, limit: int, cursor: str | None
) -> list[tuple[Listed, str]]:
    """Those with a value, by it; then those without one; then what is no predictor. A cursor says in which it is."""
    name = sort.removeprefix("-")
    begin, value, key = (0, None, "") if cursor is None else _read_cursor(cursor, name)
    found: list[tuple[Listed, str]] = []
    for place, part in enumerate(_segments(parts, COLUMNS[name])):
        if place < begin or len(found) == limit:
            continue
        downwards = part.column is None or sort.startswith("-")
        rest = part.after(value, key, downwards=downwards) if cursor is not None and place == begin else part
        for row in rest.first(session, limit - len(found), downwards=downwards):
            stands = getattr(row.summary, name) if row.summary is not None else None
            found.append((row, _write_cursor(place, stands, row.key)))
    return found


def _parts(tenant: str, wanted: Wanted) -> list[_Part]:
    """Predictors, and calibrations without one, as far as they are wanted."""
    parts: list[_Part] = []
    if wanted.status is None or wanted.status in OF_PREDICTORS:
        parts.append(_Part(Summary.calibration_id, _predictors(tenant, wanted), _read_predictor))
    if not wanted.only_predictors and (wanted.status is None or wanted.status in OF_CALIBRATIONS):
        parts.append(_Part(Calibration.id, _calibrations(tenant, wanted), _read_calibration))
    return parts


def _segments(parts: list[_Part], column: InstrumentedAttribute[Any]) -> Iterator[_Part]:
    for part in parts:
        if part.read is _read_predictor:
            yield replace(part, chosen=part.chosen.where(column.is_not(None)), column=column)
            yield replace(part, chosen=part.chosen.where(column.is_(None)))
        else:
            yield part


def _predictors(tenant: str, wanted: Wanted) -> Select[*tuple[Any, ...]]:
    watched = (Monitor.tenant == Summary.tenant) & (Monitor.predictor_id == Summary.predictor_id)
    chosen: Select[*tuple[Any, ...]] = select(Summary, Monitor).outerjoin(Monitor, watched)
    chosen = chosen.where(Summary.tenant == tenant)
    if wanted.status == "contradicted":
        chosen = chosen.where(Monitor.contradicted_at.is_not(None))
    elif wanted.status == "consistent":
        chosen = chosen.where(Monitor.contradicted_at.is_(None))
    for column, value in ((Summary.dataset_id, wanted.dataset_id), (Summary.model_id, wanted.model_id)):
        chosen = chosen if value is None else chosen.where(column == value)
    if wanted.method is not None:
        chosen = chosen.where(Summary.method == wanted.method)
    shown = (Summary.name, Summary.predictor_id, Summary.dataset_name, Summary.model_name, Summary.method)
    return chosen if not wanted.search else chosen.where(contains(shown, wanted.search))


def _calibrations(tenant: str, wanted: Wanted) -> Select[*tuple[Any, ...]]:
    chosen: Select[*tuple[Any, ...]] = (
        select(Calibration, Dataset.name, ModelRecord.name)
        .outerjoin(Dataset, Dataset.id == Calibration.dataset_id)
        .outerjoin(ModelRecord, ModelRecord.id == Calibration.model_id)
        .where(Calibration.tenant == tenant, Calibration.predictor_id.is_(None))
    )
    for column, value in (
        (Calibration.status, wanted.status),
        (Calibration.dataset_id, wanted.dataset_id),
        (Calibration.model_id, wanted.model_id),
    ):
        chosen = chosen if value is None else chosen.where(column == value)
    shown = (Calibration.name, Calibration.id, Dataset.name, ModelRecord.name)
    return chosen if not wanted.search else chosen.where(contains(shown, wanted.search))


def _read_predictor(row: Any) -> Listed:
    summary, monitor = row
    return Listed(summary.calibration_id, summary=summary, monitor=monitor)


def _read_calibration(row: Any) -> Listed:
    calibration, dataset_name, model_name = row
    return Listed(calibration.id, calibration=calibration, dataset_name=dataset_name, model_name=model_name)


def _write_cursor(place: int, value: Any, key: str) -> str:
    return base64.urlsafe_b64encode(json.dumps([place, value, key]).encode()).decode().rstrip("=")


def _read_cursor(cursor: str, name: str) -> tuple[int, Any, str]:
    """Cursors come from strangers: values are of the column's own kind, or the cursor is refused."""
    try:
        place, value, key = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        if value is not None:
            value = printable(str(value), 200) if name == "name" else float(value)
        return int(place), value, printable(str(key), 64)
    except (binascii.Error, ValueError, TypeError, OverflowError):
        raise OptionError("This cursor is of no list that is sorted in this way.", field="cursor") from None
