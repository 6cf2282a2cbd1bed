"""Empty and unbounded sets are said to be so, and never become something else."""

import json
import math

import numpy as np
import pytest

from certiset.core.errors import DataError
from certiset.core.sets import Balls, Boxes, Intervals, LabelSets, PredictionSets


def test_label_sets() -> None:
    sets = LabelSets(np.array([[True, False, True], [False, False, False]]))
    assert len(sets) == 2
    assert sets[0] == {"kind": "labels", "labels": [0, 2], "size": 2}
    assert sets[1] == {"kind": "labels", "labels": [], "size": 0}
    assert sets.size.tolist() == [2, 0]
    assert sets.contains([2, 0]).tolist() == [True, False]
    with pytest.raises(DataError, match="one label per row"):
        sets.contains([1])
    for bad in ([-1, 0], [1.7, 0], [3, 0]):
        with pytest.raises(DataError, match="whole numbers from 0 to 2"):
            sets.contains(bad)


def test_intervals() -> None:
    sets = Intervals(np.array([0.0, 1.0, -math.inf]), np.array([2.0, 0.5, 3.0]))
    assert sets[0] == {"kind": "interval", "lower": 0.0, "upper": 2.0, "size": 2.0}
    assert sets[1] == {"kind": "interval", "lower": None, "upper": None, "size": 0.0, "empty": True}
    assert sets[2] == {"kind": "interval", "lower": None, "upper": 3.0, "size": None, "unbounded": True}
    assert sets.size.tolist() == [2.0, 0.0, math.inf]
    assert sets.contains([2.0, 0.7, -1e9]).tolist() == [True, False, True]


def test_balls() -> None:
    sets = Balls(np.zeros((3, 2)), np.array([2.0, -1.0, math.inf]))
    assert sets.size.tolist() == pytest.approx([4 * math.pi, 0.0, math.inf])
    assert sets[0] == {"kind": "ball", "center": [0.0, 0.0], "radius": 2.0, "size": pytest.approx(4 * math.pi)}
    assert sets[1]["empty"]
    assert sets[1]["size"] == 0.0
    assert sets[2]["unbounded"]
    assert sets.contains([[0.0, 2.0], [0.0, 0.0], [1e9, 0.0]]).tolist() == [True, False, True]


def test_boxes() -> None:
    sets = Boxes(np.array([[0.0, 0.0], [1.0, 0.0], [-math.inf, 0.0]]), np.array([[1.0, 2.0], [0.0, 1.0], [0.0, 1.0]]))
    assert sets.size.tolist() == [2.0, 0.0, math.inf]
    assert sets[1] == {"kind": "box", "lower": None, "upper": None, "size": 0.0, "empty": True}
    assert sets[2]["unbounded"]
    assert sets.contains([[1.0, 2.0], [0.5, 0.5], [-9.0, 1.0]]).tolist() == [True, False, True]


@pytest.mark.parametrize(
    "sets",
    [
        LabelSets(np.eye(3, dtype=bool)),
        Intervals(np.array([0.0, 1.0, -math.inf]), np.array([2.0, 0.5, math.inf])),
        Balls(np.ones((3, 2)), np.array([1.0, -1.0, math.inf])),
        Boxes(np.zeros((3, 2)), np.array([[1.0, 1.0], [-1.0, 1.0], [math.inf, 1.0]])),
    ],
    ids=lambda sets: type(sets).__name__,
)
def test_every_batch_is_strict_json_and_can_be_reordered(sets: PredictionSets) -> None:
    text = json.dumps(sets.to_json(), allow_nan=False)
    assert json.loads(text) == [sets[row] for row in range(len(sets))]
    assert sets.take(np.array([2, 0])).to_json() == [sets[2], sets[0]]
