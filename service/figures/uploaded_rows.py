"""What is drawn of uploaded rows: the sizes of their sets, and for one input the band over them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from certiset.core.certificate import Certificate
from certiset.core.certificate.figures import certified_words
from certiset.core.certificate.rounding import at_most
from certiset.core.drawing import Drawing
from certiset.core.sets import PredictionSets, figures
from certiset.core.sets.base import Reals


def sizes(sets: PredictionSets, certificate: Certificate) -> Drawing:
    """How large the sets of some rows are, with the certified mean."""
    upper = certificate.efficiency.upper_bound
    return figures.sizes(
        sets.size,
        whole=sets.whole_sizes,
        unit=sets.unit,
        measure=certificate.efficiency.measure,
        certified=upper,
        certified_label="" if upper is None else f"certified {at_most(upper)}",
        further=f"{certified_words(certificate)}{boundless(sets)} These are uploaded rows, those that tuned included; "
        f"{certificate.coverage.n} of all rows calibrated.",
    )


def boundless(sets: PredictionSets) -> str:
    count = int(np.count_nonzero(~np.isfinite(sets.size)))
    return f" {count} sets are unbounded." if count else ""


def band(grid: NDArray[Any], lower: Reals, upper: Reals, x: NDArray[Any], y: NDArray[Any]) -> Drawing:
    """The intervals over a grid of inputs, and some of the data."""
    inside = (y >= np.interp(x, grid, lower)) & (y <= np.interp(x, grid, upper))
    return figures.band(grid, lower, upper, x, y, inside, "uploaded rows")
