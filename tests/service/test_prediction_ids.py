import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.sets import Balls, Boxes, Intervals, LabelSets, PredictionSets
from service.serving.prediction_ids import PredictionIds

IDS = PredictionIds(b"k" * 32)
PREDICTOR = "pred-" + "0123456789abcdef0123"
SETS: list[PredictionSets] = [
    LabelSets(np.array([[True, False, True], [False, False, False]])),
    LabelSets(np.random.default_rng(0).random((2, 1000)) < 0.5),
    Intervals(np.array([-np.inf, 2.0]), np.array([np.inf, 1.0])),
    Balls(np.array([[1.0, 2.0, 3.0], [0.0, 0.0, 0.0]]), np.array([-1.0, np.inf])),
    Boxes(np.array([[0.0, 1.0], [0.0, 0.0]]), np.array([[1.0, 2.0], [np.inf, 0.0]])),
]


@pytest.mark.parametrize("sets", SETS, ids=lambda sets: type(sets).__name__)
def test_an_id_gives_back_its_set(sets: PredictionSets) -> None:
    ids = IDS.issue("ada", PREDICTOR, np.array([0, 70_000]), sets)
    for row, id in enumerate(ids):
        found = IDS.read("ada", id)
        assert found is not None
        assert (found.predictor, found.member) == (PREDICTOR, [0, 70_000][row])
        assert found.set[0] == sets[row]
    assert len({IDS.read("ada", id).number for id in ids}) == 2  # type: ignore[union-attr]


@given(
    place=st.integers(0, 10**6),
    letter=st.sampled_from("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"),
)
def test_a_changed_id_is_not_ours(place: int, letter: str) -> None:
    (id,) = IDS.issue("ada", PREDICTOR, np.array([3]), Intervals(np.array([0.0]), np.array([1.0])))
    place %= len(id) - 1
    changed = id[:place] + letter + id[place + 1 :]
    assert (IDS.read("ada", changed) is None) == (changed != id)
    assert IDS.read("eve", id) is None
    assert PredictionIds(b"j" * 32).read("ada", id) is None


@given(st.text(max_size=200))
def test_noise_is_not_ours(text: str) -> None:
    assert IDS.read("ada", text) is None
