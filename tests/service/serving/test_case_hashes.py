"""A case has one hash and one member, whoever asks how often; hashes of cases and inputs say nothing else."""

import numpy as np
import pytest

from certiset.core.errors import OptionError
from certiset.service.serving.case_hashes import CaseHashes, checked_cases

HASHES = CaseHashes(b"k" * 32)


def test_hashes_belong_to_a_case_of_a_predictor_of_a_tenant() -> None:
    (first, other, again), numbers = HASHES.of_cases("ada", "pred-0", ["a", "b", "a"])
    assert first == again != other
    assert numbers[0] == numbers[2] != numbers[1]
    assert len(first) == 8
    for tenant, predictor, hashes in (
        ("eve", "pred-0", HASHES),
        ("ada", "pred-1", HASHES),
        ("ada", "pred-0", CaseHashes(b"j" * 32)),
    ):
        assert hashes.of_cases(tenant, predictor, ["a"])[0] != [first]


def test_members_of_cases_are_as_good_as_drawn() -> None:
    _, numbers = HASHES.of_cases("ada", "pred-0", [f"case {n}" for n in range(32_000)])
    counts = np.bincount((numbers % np.uint64(32)).astype(int), minlength=32)
    assert np.abs(counts - 1000).max() < 5 * np.sqrt(1000)


def test_equal_inputs_have_equal_hashes_in_any_precision() -> None:
    x = np.array([[0.1, -0.0], [0.1, 0.0], [0.2, 0.0]])
    first, same, other = HASHES.of_inputs("ada", "pred-0", x)
    assert first == same != other
    assert HASHES.of_inputs("ada", "pred-0", x.astype(np.float32))[0] == first
    assert HASHES.of_cases("ada", "pred-0", ["0.1,0.0"])[0] != [first]


@pytest.mark.parametrize(
    "wrong", ["", "a" * 201, ["a"], ["a", ""], ["a", 1], ["a", "b", "c"], 7, {"a": 1}, [["a"], ["b"]]]
)
def test_a_case_is_a_short_text_for_each_row(wrong: object) -> None:
    with pytest.raises(OptionError) as refused:
        checked_cases(wrong, 2, "cases")
    assert refused.value.field == "cases"
    assert checked_cases("a" * 200, 2, "cases") == ["a" * 200] * 2
    assert checked_cases(["a", "b"], 2, "cases") == ["a", "b"]
