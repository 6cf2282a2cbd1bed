"""``certiset budget --groups``: what each group would get of delta, and the rows that small ones lack, before a fit."""

import json
from pathlib import Path

import numpy as np

from certiset.core.certificate.group_prospects import GroupProspects, group_prospects
from certiset.core.data.group_labels import GroupLabels, complete
from certiset.core.data.reading import read_frame
from certiset.core.errors import DataError
from certiset.service.cli.errors import CommandError

_MOST_SHOWN = 40


def group_budget(given: list[str], file: Path | None, alpha: float, delta: float, *, as_json: bool) -> str:
    """``given`` are numbers of rows, or the columns of a file that name the groups."""
    names, counts = _counted(given) if file is None else _of_file(file, given)
    found = group_prospects(names, counts, alpha, delta)
    return _json(found, alpha, delta) if as_json else _table(found, alpha, delta)


def _counted(given: list[str]) -> tuple[list[str], list[int]]:
    """NAME=ROWS, or numbers of rows alone."""
    names, counts = [], []
    for place, text in enumerate(given, 1):
        name, equals, rows = text.rpartition("=")
        if not rows.isascii() or not rows.isdigit() or (equals and not name):
            raise CommandError(
                f"--groups takes numbers of rows, such as 500 120 or north=500, not {text!r}; with --dataset the "
                "columns that name the groups."
            )
        names.append(name or f"group {place}")
        counts.append(int(rows))
    return names, counts


def _of_file(file: Path, columns: list[str]) -> tuple[list[str], list[int]]:
    try:
        frame = read_frame(file, target="")
        labels = GroupLabels.of([complete(frame.column(name, "groups"), "groups") for name in columns])
    except DataError as error:
        raise CommandError(f"{file}: {error}") from None
    counts = np.bincount(labels.codes, minlength=len(labels.names))
    return [", ".join(name) for name in labels.names], counts.tolist()


def _json(found: GroupProspects, alpha: float, delta: float) -> str:
    groups = [
        {"name": one.name, "n": one.n, "delta": one.delta, "k": one.k, "level": one.level, "lacking": one.lacking}
        for one in found.groups
    ]
    return json.dumps({"alpha": alpha, "delta": delta, "rows_needed": found.rows_needed, "groups": groups}, indent=2)


def _table(found: GroupProspects, alpha: float, delta: float) -> str:
    width = max(5, *(min(len(one.name), _MOST_SHOWN) for one in found.groups))
    lines = [
        f"{len(found.groups)} groups, alpha = {alpha:g}, delta = {delta:g}: all keep alpha at once",
        "",
        f"{'group':<{width}} {'rows':>9} {'k':>9} {'k / (n+1)':>12} {'of delta':>12} {'lacks':>9}",
    ]
    for one in found.groups:
        cells = (
            f"{one.k:>9} {one.level:>12.6f} {one.delta:>12.6f} {'':>9}"
            if one.k
            else f"{'none':>9} {'':>12} {'':>12} {one.lacking:>9}"
        )
        lines.append(f"{one.name[:_MOST_SHOWN]:<{width}} {one.n:>9} {cells}".rstrip())
    lines += ["", f"{found.rows_needed} rows that calibrate are enough for any group, whatever the others have."]
    return "\n".join(lines)
