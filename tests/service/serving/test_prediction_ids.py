import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certiset.core.sets import Balls, Boxes, Intervals, LabelSets, PredictionSets
from certiset.service.serving.prediction_ids import PredictionIds, questions_of

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


class Uneven(Intervals):
    """A kind that writes some rows in a short form."""

    def pack(self) -> list[bytes]:
        return [payload.rstrip(b"\0") for payload in super().pack()]


UNEVEN = Uneven(np.array([1.0, 1 / 3]), np.array([2.0, 2 / 3]))


@pytest.mark.parametrize("sets", SETS, ids=lambda sets: type(sets).__name__)
@pytest.mark.parametrize("replayed", [False, True])
def test_ids_issued_in_parts_are_those_of_the_rows_one_by_one(
    sets: PredictionSets, replayed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    many, members = sets.take(np.arange(300) % 2), np.arange(300) * 1000
    monkeypatch.setattr("os.urandom", lambda count: b"n" * count)
    parts = list(IDS.issue_in_parts("ada", PREDICTOR, members, many, replayed=replayed))
    assert len(parts) > 1
    expected = IDS.issue("ada", PREDICTOR, members, many, replayed=replayed)
    assert [id.decode() for part in parts for id in part.tolist()] == expected


def test_no_two_ids_issued_in_parts_are_the_same() -> None:
    sets = SETS[0].take(np.zeros(300, dtype=np.int64))
    parts = IDS.issue_in_parts("ada", PREDICTOR, np.zeros(300, dtype=np.int64), sets)
    assert len({IDS.read("ada", id.decode()).number for part in parts for id in part.tolist()}) == 300  # type: ignore[union-attr]


# Issued by version 0.1.0 with the same key.
OLD_IDS: dict[str, tuple[int, bool, PredictionSets]] = {
    "cGhoGzN-6X2wFR3CCjPhXQEBI0VniavN7wEjAAAAAAABAgMEBQYHCAkKCwADAAAAoA": (0, False, SETS[0].take(slice(1))),
    "paPPkDguW8OVIHy9IToaEgEBI0VniavN7wEjBwAAAAABAgMEBQYHCAkKC4EAAAAAAADw_wAAAAAAAPg_": (
        7,
        True,
        Intervals(np.array([-np.inf]), np.array([1.5])),
    ),
    "AnVPnf0Ykl11A0vCbIXCKgEBI0VniavN7wEjcBEBAAABAgMEBQYHCAkKCwIAAAAAAADwPwAAAAAAAABAAAAAAAAA4D8": (
        70_000,
        False,
        Balls(np.array([[1.0, 2.0]]), np.array([0.5])),
    ),
    "ZAxqilxM61X5dnWmWktcyAEBI0VniavN7wEjAwAAAAABAgMEBQYHCAkKCwMAAAAAAAAAAAAAAAAAAPA_AAAAAAAA8D8AAAAAAAAAQA": (
        3,
        False,
        Boxes(np.array([[0.0, 1.0]]), np.array([[1.0, 2.0]])),
    ),
}


@pytest.mark.parametrize("id", OLD_IDS)
def test_ids_of_the_first_version_are_read(id: str) -> None:
    member, replayed, sets = OLD_IDS[id]
    found = IDS.read("ada", id)
    assert found is not None
    assert (found.predictor, found.member, found.replayed) == (PREDICTOR, member, replayed)
    assert found.number == bytes(range(12)).hex()
    assert found.set[0] == sets[0]


def test_an_id_with_a_kind_of_set_that_is_not_installed_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    (id,) = IDS.issue("ada", PREDICTOR, np.array([3]), Intervals(np.array([0.0]), np.array([1.0])))
    monkeypatch.setattr("certiset.service.serving.prediction_ids.set_kind_of_code", lambda code: None)
    assert IDS.read("ada", id) is None


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


@pytest.mark.parametrize("sets", SETS, ids=lambda sets: type(sets).__name__)
def test_an_id_of_the_second_form_carries_its_case_as_well(sets: PredictionSets) -> None:
    cases = [bytes(8), bytes(range(8))]
    for row, id in enumerate(IDS.issue("ada", PREDICTOR, np.array([0, 70_000]), sets, cases=cases)):
        found = IDS.read("ada", id)
        assert found is not None
        assert (found.predictor, found.case, found.set[0]) == (PREDICTOR, cases[row].hex(), sets[row])
        assert IDS.read("eve", id) is None
    plain = IDS.read("ada", IDS.issue("ada", PREDICTOR, np.array([0, 1]), sets)[0])
    assert plain is not None
    assert plain.case is None


@pytest.mark.parametrize("sets", SETS, ids=lambda sets: type(sets).__name__)
@pytest.mark.parametrize("cases", [None, [b"01234567", b"76543210"]])
def test_an_id_gives_back_its_group_beside_its_case(sets: PredictionSets, cases: list[bytes] | None) -> None:
    members, groups = np.array([0, 3]), np.array([0, 4_000_000_000])
    asked = ("ada", PREDICTOR, members, sets)
    few = IDS.issue(*asked, cases=cases, groups=groups)
    many = [id.decode() for part in IDS.issue_in_parts(*asked, cases=cases, groups=groups) for id in part.tolist()]
    for ids in (few, many):
        for row, id in enumerate(ids):
            found = IDS.read("ada", id)
            assert found is not None
            assert (found.member, found.group) == (members[row], groups[row])
            assert found.case == (None if cases is None else cases[row].hex())
            assert found.set[0] == sets[row]


@pytest.mark.parametrize("cases", [None, [b"c" * 8, b"d" * 8]])
@pytest.mark.parametrize("sets", [*SETS, UNEVEN], ids=lambda sets: type(sets).__name__)
def test_an_id_proves_what_a_deployment_was_asked_and_when(sets: PredictionSets, cases: list[bytes] | None) -> None:
    begun = time.time()
    questions = questions_of(b"t" * 8, [b"1" * 8, b"2" * 8])
    ids = IDS.issue("ada", PREDICTOR, np.array([0, 1]), sets, cases=cases, questions=questions)
    (part,) = IDS.issue_in_parts("ada", PREDICTOR, np.array([0, 1]), sets, cases=cases, questions=questions)
    for row, id in enumerate([*ids, *(one.decode() for one in part.tolist())]):
        found = IDS.read("ada", id)
        assert found is not None
        assert found.question is not None
        assert found.set[0] == sets[row % 2]
        assert found.case == (None if cases is None else cases[row % 2].hex())
        assert (found.question.deployment, found.question.digest) == ((b"t" * 8).hex(), [b"1", b"2"][row % 2].hex() * 8)
        assert begun - 0.01 <= found.question.asked_at <= time.time()
        assert IDS.read("eve", id) is None
