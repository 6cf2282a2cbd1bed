"""A small service to look at: classes with names, groups by text, drawn members, a deployment, outcomes."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from certiset.service.client import Client

NAMES = ("rose", "tulip", "violet")
REGIONS = ("north", "south", "coast")
ROWS, SEED = 3000, 3
_SHIFT = np.array([2.0, 0.0, -2.0])
"""by which the logits are wrong, so that members are worth drawing"""
_DRAWN = {
    "method": "pac_bayes",
    "prior": {"train": "none", "scale": 1.0},
    "optimizer": {"steps": 300, "draws": 4},
    "members": 6,
    "alpha_hat": [0.05, 0.06],
}


@dataclass(frozen=True)
class Flowers:
    dataset: str
    model: str
    calibration: str
    grouped: str
    """a predictor with a threshold for every region"""
    grouped_certificate: str
    drawn: str
    """one whose members were drawn"""
    drawn_certificate: str
    deployment: str


def flower_rows(count: int, seed: int) -> tuple[NDArray[np.float64], list[str], list[str]]:
    """Logits, regions and species."""
    random = np.random.default_rng(seed)
    y, place = random.integers(3, size=count), random.choice(3, size=count, p=[0.5, 0.492, 0.008])
    x = np.round(2.5 * np.eye(3)[y] + random.normal(size=(count, 3)) + _SHIFT, 3)
    return x, [REGIONS[one] for one in place], [NAMES[one] for one in y]


def csv_of(x: NDArray[np.float64], regions: list[str], species: list[str]) -> str:
    lines = ["a,b,c,region,species"]
    for row, region, name in zip(x.tolist(), regions, species, strict=True):
        lines.append(",".join([*map(str, row), region, name]))
    return "\n".join(lines) + "\n"


def make_flowers(client: Client, folder: Path) -> Flowers:
    file = folder / "flowers.csv"
    file.write_text(csv_of(*flower_rows(ROWS, SEED)))
    dataset = client.datasets.upload(file, name="flowers by region", target="species").id
    widths = {"kind": "mlp", "widths": [3, 3], "activation": "relu"}
    manifest = {"name": "florist", "task": "classification", "classes": 3, "input_shape": [3]}
    manifest |= {"labels": list(NAMES), "head": widths}
    weights = {"head.0.weight": np.eye(3, dtype=np.float32), "head.0.bias": np.zeros(3, dtype=np.float32)}
    model = client.models.upload(manifest, weights=weights).id
    asked = (
        {"method": "standard", "groups": "region", "name": "flowers, each region"},
        {"name": "flowers, drawn", **_DRAWN},
    )
    fits = [client.calibrations.start(dataset, model, **options) for options in asked]
    grouped, drawn = (client.calibrations.wait(fit.id) for fit in fits)
    assert grouped.predictor_id, grouped.error
    assert drawn.predictor_id, drawn.error
    client.deployments.set("flowers", drawn.predictor_id)
    x, regions, species = flower_rows(120, 4)
    served = client.predict_set(grouped.predictor_id, x, groups=regions)
    client.outcomes.report((row.prediction_id, truth) for row, truth in zip(served, species, strict=True))
    assert grouped.certificate_id
    assert drawn.certificate_id
    return Flowers(
        dataset=dataset,
        model=model,
        calibration=drawn.id,
        grouped=grouped.predictor_id,
        grouped_certificate=grouped.certificate_id,
        drawn=drawn.predictor_id,
        drawn_certificate=drawn.certificate_id,
        deployment="flowers",
    )
