"""Every promise that a certificate makes, put to the test by simulation: one family of promises a file.

A file that holds a `Family` is found by the registry; `certiset reproduce promises` and its page need no other line.
The tests in ``tests/system/promises`` run the same simulations with fewer runs.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.evidence.promises.family import Family, Tally
from certiset.core.registry import Registry

if TYPE_CHECKING:
    from benchmarks.evidence.sweep import Cell

FAMILIES: Registry[Family] = Registry("family of promises", __name__, Family)
_SEEDS_OF_A_CASE = 1000


def cells(quick: bool, families: tuple[str, ...] = ()) -> "list[Cell]":
    """Each case in its parts, which are kept one by one; all families, or those that are named."""
    return [
        {
            "family": name,
            "case": case.name,
            "seed": _SEEDS_OF_A_CASE * place + part,
            "runs": case.quick_runs if quick else case.runs // case.parts,
            "settings": case.settings,
        }
        for name in families or FAMILIES
        for place, case in enumerate(FAMILIES[name].cases)
        for part in range(1 if quick else case.parts)
    ]


def work(cell: "Cell", kept: Path) -> list[Tally]:
    return FAMILIES[cell["family"]].simulate(runs=cell["runs"], seed=cell["seed"], **cell["settings"])
