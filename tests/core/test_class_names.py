from typing import Any

import numpy as np
import pandas as pd
import pytest

from certiset.core.class_names import NamedTruths, codes_of, names_of_values, read_truths
from certiset.core.errors import DataError

PETS = ("cat", "dog", "eel")


@pytest.mark.parametrize(
    "y",
    [
        ["dog", "cat", "eel"],
        np.array(["dog", "cat", "eel"]),
        np.array(["dog", "cat", "eel"], dtype=object),
        pd.Series(["dog", "cat", "eel"]),
        pd.Series(["dog", "cat", "eel"], dtype="category"),
        NamedTruths(np.array([0, 1, 2]), ("dog", "cat", "eel")),
    ],
)
def test_a_class_is_the_place_of_its_name(y: Any) -> None:
    assert codes_of(y, PETS).tolist() == [1, 0, 2]


def test_numbers_are_places_unless_the_names_are_numbers() -> None:
    assert codes_of([0, 2, 1], PETS) == [0, 2, 1]
    assert codes_of([5, 3, 5.0], ("3", "5")).tolist() == [1, 0, 1]
    with pytest.raises(DataError, match="row 2 is '4'"):
        codes_of([5, 4], ("3", "5"))


def test_names_that_the_model_does_not_have_are_told_with_their_row() -> None:
    with pytest.raises(DataError, match="row 2 is 'dgo', which is none of the model's classes: did you mean 'dog'"):
        codes_of(["cat", "dgo"], PETS)
    with pytest.raises(DataError, match="the model's classes are cat, dog, eel"):
        codes_of(["cat", "whale"], PETS)
    with pytest.raises(DataError, match="row 2 is None: every row needs one"):
        codes_of(["cat", None], PETS)


def test_without_names_of_the_model_the_truths_have_their_own_in_alphabetical_order() -> None:
    codes, names = read_truths(["eel", "cat", "dog"], None, 3)
    assert (codes.tolist(), names) == ([2, 0, 1], PETS)
    with pytest.raises(DataError, match=r"y holds 2 names .*, but the model has 3 classes"):
        read_truths(["eel", "cat"], None, 3)
    assert read_truths([1, 0], None, 3) == ([1, 0], None)


@pytest.mark.parametrize(
    ("values", "names"),
    [
        ([0, 1, 2], None),
        ([0.0, 1.0], None),
        ([3, 7], ("3", "7")),
        ([1.0, 2.0], ("1", "2")),
        (["a", "b"], ("a", "b")),
        ([False, True], ("False", "True")),
    ],
)
def test_classes_have_the_names_of_their_values(values: Any, names: tuple[str, ...] | None) -> None:
    assert names_of_values(np.array(values)) == names
