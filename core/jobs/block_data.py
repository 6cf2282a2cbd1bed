"""The data set of a block: its rows alone, or, where a member is kept beside the new one, behind those before them.

**Keeping a member.** Where the deployment's predictor is a pool, the next pool has two members: one calibrated on the
newest block of m rows, tuned on all rows before it, and one on the m rows before those, likewise. So a new block
replaces the oldest member, and sizes, ranks and weights are fixed by m beforehand: the pool's law is the exact one of
`certiset.core.bounds.progressive`, whatever was learned.

**Where that ends.** Whether a pool goes on may depend on its rows: a contradiction, a change by hand or a fit that
fails end it, and what is calibrated next rests on later rows alone. *What it costs:* let S_g be the event that the pool
has not ended before block g is complete, and C_g that pool g breaks its promise. C_g rests on blocks g - 1 and g, so
that P(C_g and S_g) <= P(C_g and S_(g-2)) <= delta P(S_(g-2)); summed over g that is delta times the expected number of
blocks that were completed and two more. One of them is the block that is dropped; the other is spent beside it.
"""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certiset.core.certificate.population import BY_CLASS
from certiset.core.data.frame import COLUMN_NAMES
from certiset.core.data.stored_rows import map_dataset
from certiset.core.errors import DataError, NotFoundError
from certiset.core.jobs.datasets import add_dataset
from certiset.core.scratch import scratch_file
from certiset.core.store.deployment_records import DeploymentBlockRecord, DeploymentRecord, DeploymentRowRecord
from certiset.core.store.records import Dataset
from certiset.core.store.store import Store

ORDER = "block"
"""the column that says which rows came later, where a member is kept"""
REPORTED = "reported"
"""the same within a block, where the first calibration was by an order of its own"""
ARRAYS = frozenset({"x", "y", COLUMN_NAMES, ORDER, REPORTED})
"""that the data set of a block may have"""
_SMALLEST_BLOCK = 100
_FEWEST_TO_TUNE = 100
_BLOCKS_OF_A_POOL = 2
_TUNE_ON_A_SHARE, _SHARE = ("learned", "pac_bayes", "progressive"), 0.5
"""methods of `certiset.core.fit`, which brings PyTorch, and their share if none is given"""
_BASE = "base"


def base_of(record: DeploymentRecord) -> str | None:
    """The data set whose rows come before those of the next block; None: it stands alone."""
    base = (record.recipe or {}).get(_BASE)
    return None if base is None or not keeps_members(record) else str(base)


def keeps_members(record: DeploymentRecord) -> bool:
    """Where a contradiction ends the pool, and blocks have one size that was fixed beforehand."""
    recipe, rule = record.recipe or {}, record.recalibrate or {}
    rows = (rule.get("every") or {}).get("rows")
    tunes = (recipe.get("options", {}).get("prior") or {}).get("train") != "none"
    return bool(recipe.get("pool") and rule.get("on_contradiction") and rows and rows >= _SMALLEST_BLOCK and tunes)


def set_base(record: DeploymentRecord, dataset_id: str | None) -> None:
    record.recipe = None if record.recipe is None else {**record.recipe, _BASE: dataset_id}


def make_dataset(
    store: Store, record: DeploymentRecord, block: DeploymentBlockRecord, rows: Sequence[DeploymentRowRecord]
) -> tuple[Dataset, dict[str, Any]]:
    """An ordinary data set, and the options that it changes; the same rows have the same bytes, so are the same one."""
    x = np.stack([np.frombuffer(row.x, dtype="<f8") for row in rows])
    y = np.array([row.y for row in rows])
    y = y[:, 0] if y.shape[1] == 1 else y
    with store.reading() as work:
        served = work.predictors.find(record.tenant, record.predictor_id)
    y = y.astype(np.int64) if served is not None and served.task == "classification" else y
    before = _before(store, record, (x.shape[1], len(rows[0].y)))
    changes = None if before is None else _pool_options(record, len(before[1]), len(y))
    if before is None or changes is None:
        return _added(store, block, {"x": x, "y": y, **_beside(record, rows)}), _options_alone(record, len(rows))
    whole = {"x": np.concatenate([before[0], x]), "y": np.concatenate([before[1], y])}
    return _added(store, block, {**whole, ORDER: np.arange(len(whole["y"]))}), changes


def group_columns(options: Mapping[str, Any]) -> list[str]:
    """The columns that name groups."""
    named = options.get("groups")
    return [] if named in (None, BY_CLASS) else [named] if isinstance(named, str) else list(named)


def _beside(record: DeploymentRecord, rows: Sequence[DeploymentRowRecord]) -> dict[str, NDArray[Any]]:
    """The columns beside inputs and truths: groups, and the order of the reports, where the options name them."""
    options = (record.recipe or {})["options"]
    arrays: dict[str, NDArray[Any]] = {}
    if options.get("order") == REPORTED:
        arrays[REPORTED] = np.arange(len(rows))
    columns = group_columns(options)
    if columns:
        listed = {(name,) if isinstance(name, str) else tuple(name) for name in options["group_list"]}
        unlisted = (_no_value_of(listed),) * len(columns)
        names = [tuple(row.group_name or ()) for row in rows]
        table = np.array([name if name in listed else unlisted for name in names])
        arrays |= {column: table[:, place] for place, column in enumerate(columns)}
    return arrays


def _no_value_of(listed: Collection[tuple[str, ...]]) -> str:
    """A name for inputs of groups that are not listed."""
    taken, name = {value for group in listed for value in group}, "not listed"
    while name in taken:
        name += "'"
    return name


def _before(store: Store, record: DeploymentRecord, shape: tuple[int, int]) -> tuple[NDArray[Any], NDArray[Any]] | None:
    """The rows before the block, oldest first, if they are kept, still there, and have so many numbers and targets."""
    base = base_of(record)
    if base is None:
        return None
    try:
        with store.reading() as work:
            dataset = work.datasets.get(record.tenant, base)
        with store.local_file(dataset.artifact) as file:
            data = map_dataset(file)
            columns = (record.recipe or {}).get("columns") if data.names is not None else None
            inputs = np.asarray(data.frame.inputs(columns, ())[0], dtype=np.float64)
            truths = np.array(data.truths)
    except (NotFoundError, DataError):
        return None
    inputs, truths = inputs.reshape(len(inputs), -1), truths.reshape(len(truths), -1)
    if (inputs.shape[1], truths.shape[1]) != shape:
        return None
    truths = truths[:, 0] if truths.shape[1] == 1 else truths
    if ORDER in data.further or REPORTED in data.further:
        return inputs, truths
    # Rows that were uploaded have no order: one that is drawn without looking at them.
    mixed = np.random.default_rng(len(truths)).permutation(len(truths))
    return inputs[mixed], truths[mixed]


def _pool_options(record: DeploymentRecord, before: int, rows: int) -> dict[str, Any] | None:
    """Two blocks, the newest of new rows alone, and all rows before them tune; None if there are too few."""
    n_tune = max(before - rows, _FEWEST_TO_TUNE)
    if (before + rows - n_tune) // 2 < _SMALLEST_BLOCK:
        return None
    options = (record.recipe or {})["options"]
    # Rounded down to the number that is meant, whatever the last digit is.
    split = (n_tune + 0.5) / (before + rows)
    prior = {**(options.get("prior") or {}), "split": split}
    return {"method": "progressive", "guarantee": "pool", "order": ORDER, "prior": prior}


def _options_alone(record: DeploymentRecord, rows: int) -> dict[str, Any]:
    """Of a block that stands alone, by its rows' number: if they are too few for a pool, then the default method's."""
    options = (record.recipe or {})["options"]
    needed = _BLOCKS_OF_A_POOL * _SMALLEST_BLOCK * len(options.get("group_list") or [BY_CLASS])
    if options.get("method") != "progressive" or rows - tuning_rows(options, rows) >= needed:
        return {}
    return {"method": "auto", "guarantee": "auto", "prior": {**(options.get("prior") or {}), "split": None}}


def tuning_rows(options: Mapping[str, Any], rows: int) -> int:
    """How many of so many rows tune, by the share that a method has which tunes on a fixed one."""
    prior = options.get("prior") or {}
    if prior.get("train") == "none" or options.get("method") not in _TUNE_ON_A_SHARE:
        return 0
    split = prior.get("split")
    return int((_SHARE if split is None else float(split)) * rows)


def _added(store: Store, block: DeploymentBlockRecord, arrays: dict[str, NDArray[Any]]) -> Dataset:
    with scratch_file(store.settings.scratch) as file:
        with Path(file).open("wb") as stream:
            np.savez(stream, **arrays)  # type: ignore[arg-type]
        return add_dataset(store, block.tenant, file, filename="block.npz", name=block_name(block))[0]


def block_name(block: DeploymentBlockRecord) -> str:
    return f"{block.name}, block {block.number}"
