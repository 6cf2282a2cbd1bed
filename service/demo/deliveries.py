"""Delivery times in four regions, as a table: a model's predictions are given, and one day the city changes.

The predictions are computed elsewhere, so that there is no model to train. From one day on roads are closed and
deliveries take longer: the monitor is to notice, since nobody tells the predictor.
"""

import io
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

REGIONS = ("north", "south", "harbour", "hills")
SHARES = (0.45, 0.35, 0.17, 0.03)
ROWS, SEEN, DRIFTED = 800, 240, 160


@dataclass(frozen=True)
class Deliveries:
    """Rows of the table: what was predicted, in which region, and how long it took, in minutes."""

    predicted: NDArray[np.float64]
    region: list[str]
    minutes: NDArray[np.float64]

    def csv(self) -> bytes:
        text = io.StringIO()
        text.write("predicted,region,minutes\n")
        for predicted, region, minutes in zip(self.predicted, self.region, self.minutes, strict=True):
            text.write(f"{predicted:.3f},{region},{minutes:.3f}\n")
        return text.getvalue().encode()


def deliveries(rows: int, seed: int, *, closed_roads: bool = False) -> Deliveries:
    random = np.random.default_rng(seed)
    place = random.choice(len(REGIONS), size=rows, p=SHARES)
    predicted = 15 + 25 * random.random(rows)
    spread = np.array([2.0, 3.0, 5.0, 8.0])[place]
    late = 9.0 if closed_roads else 0.0
    minutes = predicted + late + spread * random.standard_normal(rows)
    return Deliveries(np.round(predicted, 3), [REGIONS[one] for one in place], np.round(minutes, 3))
