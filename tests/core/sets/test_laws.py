"""The laws that every kind of set obeys; a kind's own part is only a batch to try them on."""

import math
from typing import Any

import jsonschema
import numpy as np
import pytest

from certiset.core.sets import SET_KINDS, Balls, Boxes, Intervals, LabelSets, PredictionSets, set_kind_of_code

inf = math.inf
BATCHES: dict[str, tuple[PredictionSets, Any]] = {
    "labels": (LabelSets(np.array([[1, 0, 1], [0, 0, 0], [1, 1, 1]], dtype=bool)), [2, 0, 1]),
    "interval": (Intervals(np.array([0.0, 1.0, -inf]), np.array([2.0, 0.5, inf])), [1.0, 0.7, -1e9]),
    "ball": (Balls(np.ones((3, 2)), np.array([1.0, -1.0, inf])), [[1.0, 1.5], [1.0, 1.0], [99.0, 0.0]]),
    "box": (
        Boxes(np.array([[0.0, 0.0], [1.0, 0.0], [-inf, 0.0]]), np.array([[1.0, 2.0], [0.0, 1.0], [0.0, 1.0]])),
        [[0.5, 1.5], [0.5, 0.5], [-9.0, 0.5]],
    ),
}
every_kind = pytest.mark.parametrize("kind", BATCHES)


def test_every_kind_has_a_batch_here() -> None:
    assert set(BATCHES) == set(SET_KINDS)


@every_kind
def test_names_and_codes_lead_back_to_the_kind(kind: str) -> None:
    assert SET_KINDS[kind].kind == kind
    assert set_kind_of_code(SET_KINDS[kind].code) is SET_KINDS[kind]


@every_kind
def test_json_fits_its_schema(kind: str) -> None:
    sets, _ = BATCHES[kind]
    for row in sets.to_json():
        jsonschema.validate(row, sets.json_schema())
        assert row["kind"] == kind
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**sets[0], "kind": "other"}, sets.json_schema())


@every_kind
def test_the_json_of_a_batch_is_that_of_its_rows(kind: str) -> None:
    sets, _ = BATCHES[kind]
    assert sets.to_json() == [sets[row] for row in range(len(sets))]
    assert sets.take(slice(0)).to_json() == []


@every_kind
def test_the_compact_form_is_the_same_set(kind: str) -> None:
    sets, _ = BATCHES[kind]
    for row, payload in enumerate(sets.pack()):
        assert type(sets).unpack(payload).to_json() == [sets[row]]


@every_kind
def test_columns_make_the_batch_again_and_are_described_as_tensors(kind: str) -> None:
    sets, _ = BATCHES[kind]
    arrays = sets.columns()
    assert type(sets).from_columns({**arrays, "size": sets.size}).to_json() == sets.to_json()
    assert [name for name, _, _ in sets.tensors()] == list(arrays)
    for name, datatype, dimensions in sets.tensors():
        assert arrays[name].ndim == dimensions
        assert arrays[name].dtype == {"BOOL": np.bool_, "FP64": np.float64}[datatype]


@every_kind
def test_one_set_as_json_contains_what_the_batch_contains(kind: str) -> None:
    sets, y = BATCHES[kind]
    inside = sets.contains(y)
    assert inside.any()
    assert not inside.all()
    for row, value in enumerate(y):
        assert sets.includes(sets[row], value) == inside[row]


@every_kind
def test_sets_are_written_as_mathematicians_do(kind: str) -> None:
    sets, _ = BATCHES[kind]
    expected = {
        "labels": ["{0, 2}", "{}", "{0, 1, 2}"],
        "interval": ["[0, 2]", "{}", "[-inf, inf]"],
        "ball": ["ball around (1, 1), radius 1", "{}", "ball around (1, 1), infinite radius"],
        "box": ["[0, 1] x [0, 2]", "{}", "[-inf, 0] x [0, 1]"],
    }
    assert [sets.text(row) for row in range(len(sets))] == expected[kind]


@every_kind
def test_rows_can_be_taken_in_any_order(kind: str) -> None:
    sets, _ = BATCHES[kind]
    assert sets.take(np.array([2, 0])).to_json() == [sets[2], sets[0]]
    assert len(sets.take(slice(0, 0))) == 0
