"""The last look before a certificate: D_N on the path that serves, and how many of its truths are in their sets.

A threshold at rank k leaves at most k - 1 rows of D_N outside, so that n + 1 - k truths are in the sets, whatever the
model. Thresholds and sets are computed by different code, in different batches and in floats. Should they disagree, for
a reason that nobody thought of, it shows here: on the rows that the promise rests on, with the truths as they were
given, in float64.
"""

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from certiset.core.certificate.group_content import Group
from certiset.core.data.arrays import CheckedData
from certiset.core.errors import UncoveredError
from certiset.core.fit.predictor import Predictor
from certiset.core.fit.seen_rows import CHUNK


@torch.inference_mode()
def check_served_rows(
    predictor: Predictor, data: CheckedData, blocks: list[Tensor], ranks: list[int], between: Callable[[], object]
) -> float:
    """The share of D_N's sets that are empty, over all members; an error if any member covers too few of its rows.

    ``blocks`` are the places of the rows on which each member was calibrated, and for which it answers here; where
    members share a block, the backbone runs once for all of them. ``between`` is called between chunks, and may raise.
    """
    covered, empty = np.zeros(predictor.members, dtype=np.int64), 0
    shared: dict[int, list[int]] = {}
    for member, block in enumerate(blocks):
        shared.setdefault(id(block), []).append(member)
    for members in shared.values():
        places = blocks[members[0]].numpy()
        for start in range(0, len(places), CHUNK):
            between()
            rows = places[start : start + CHUNK]
            seen = predictor.seen(data.x[rows])
            for member in members:
                sets = predictor.sets_from(seen, member)
                covered[member] += np.count_nonzero(sets.contains(data.y[rows]))
                empty += int(np.count_nonzero(sets.size == 0))
    for member, (found, block, rank) in enumerate(zip(covered.tolist(), blocks, ranks, strict=True)):
        needed = len(block) + 1 - rank
        if found < needed:
            raise _uncovered(f"member {member}", found, len(block), needed)
    return empty / sum(map(len, blocks))


@torch.inference_mode()
def check_served_groups(
    predictor: Predictor,
    data: CheckedData,
    blocks: list[Tensor],
    codes: NDArray[np.int64],
    groups: list[Group],
    between: Callable[[], object],
) -> float:
    """The same for members with a threshold for each group: every group has as many of its truths in its sets.

    ``codes`` are the groups of all rows, beyond the last for rows of none.
    """
    by_class, empty = predictor.scorer.rule.by_class, 0
    for member, block in enumerate(blocks):
        places, covered = block.numpy(), np.zeros(len(groups) + 1, dtype=np.int64)
        for start in range(0, len(places), CHUNK):
            between()
            rows = places[start : start + CHUNK]
            own, drawn = codes[rows], np.full(len(rows), member, dtype=np.int64)
            sets = predictor.sets_of(data.x[rows], drawn if by_class else predictor.cells(drawn, own))
            covered += np.bincount(own[sets.contains(data.y[rows])], minlength=len(groups) + 1)
            empty += int(np.count_nonzero(sets.size == 0))
        for group, found in zip(groups, covered.tolist(), strict=False):
            of_block = group if group.blocks is None else group.blocks[member]
            needed = of_block.n + 1 - of_block.k if of_block.k else of_block.n
            if found < needed:
                raise _uncovered(f"group {', '.join(group.name)}", found, of_block.n, needed)
    return empty / sum(map(len, blocks))


def _uncovered(who: str, found: int, rows: int, needed: int) -> UncoveredError:
    return UncoveredError(
        f"There is no certificate: as they would be served, the sets of {who} contain {found} of the "
        f"{rows} calibration truths, and {needed} are needed. The model's numbers change from one "
        "run to the next, or are too coarse for its precision: a fit with dtype = float64 may help."
    )
