"""The one place that checks arrays: the same sentences for uploads, fits and predictions, with rows counted from 1."""

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import torch

import certiset
from certiset.core.data import DatasetArrays
from certiset.core.data.arrays import CheckedData, as_numbers, check_data, check_inputs
from certiset.core.errors import DataError
from certiset.core.models import Model

CLASSES = Model.from_manifest({"task": "classification", "classes": 3, "input_shape": [3]})
VALUES = Model.from_manifest({"task": "regression", "input_shape": [1, 2]})
X, LABELS = np.arange(12.0).reshape(4, 3), np.array([0, 1, 2, 1])
WIDE = np.arange(400_000.0).reshape(200_000, 2)
"""more rows than are looked at in one go"""


def changed(array: Any, place: Any, value: Any) -> Any:
    copy = np.array(array, dtype=np.float64)
    copy[place] = value
    return copy


FLAWS: list[tuple[Any, Any, str, str]] = [
    (changed(X, (2, 1), np.nan), LABELS, "x", "x must be finite, and row 3, column 2 is nan."),
    (X, changed(LABELS, 3, np.inf), "y", "y must be finite, and row 4 is inf."),
    ([["a", "b", "c"]] * 4, LABELS, "x", "x must hold numbers, not <U1."),
    ([[1, 2, 3], [1, 2]], LABELS[:2], "x", "x must be an array of numbers whose rows all have one shape."),
    (X, 3, "y", "y must hold one row for each point, not a single number."),
    (X, {"a": 1}, "y", "y must be an array of numbers, not dict."),
    (np.array([[object()] * 3] * 4), LABELS, "x", "x must hold numbers, not Python objects."),
    (X, LABELS + 1j, "y", "y must hold numbers, not complex128."),
    (X, LABELS[:3], "y", "x has 4 rows and y has 3: one target per row is needed."),
    (X[:1], LABELS[:1], "x", "The data have one row, and at least two are needed."),
    (X[:0], LABELS[:0], "x", "The data have no rows, and at least two are needed."),
]


@pytest.mark.parametrize(("x", "y", "field", "sentence"), FLAWS, ids=[flaw[3] for flaw in FLAWS])
def test_uploads_and_fits_refuse_in_the_same_words(x: Any, y: Any, field: str, sentence: str) -> None:
    for check in (DatasetArrays.checked, lambda x, y: check_data(CLASSES, x, y, allow_missing_classes=False)):
        with pytest.raises(DataError) as caught:
            check(x, y)
        assert str(caught.value) == sentence
        assert caught.value.field == field


def test_nothing_at_all_is_refused_by_its_name() -> None:
    for x, y, field in ((None, LABELS, "x"), (X, None, "y")):
        with pytest.raises(DataError, match=f"^{field} must be an array of numbers, not None.$") as caught:
            certiset.fit(CLASSES, x, y)
        assert caught.value.field == field
    with pytest.raises(DataError, match=r"^x must be an array of numbers, not None.$"):
        check_inputs(CLASSES, None)  # type: ignore[arg-type]


@pytest.mark.parametrize("row", [0, 65_535, 65_536, 199_999])
def test_a_flaw_in_many_rows_is_found_where_it_is(row: int) -> None:
    with pytest.raises(DataError, match=f"x must be finite, and row {row + 1}, column 2 is -inf"):
        DatasetArrays.checked(changed(WIDE, (row, 1), -np.inf), np.arange(len(WIDE)))
    model = Model.from_manifest({"task": "regression", "input_shape": [2]})
    with pytest.raises(DataError, match=f"x must be finite, and row {row + 1}, column 2 is nan"):
        check_inputs(model, changed(WIDE, (row, 1), np.nan))


def test_images_are_named_with_all_their_coordinates() -> None:
    with pytest.raises(DataError, match="row 2, column 1, 2 is nan"):
        check_inputs(VALUES, changed(np.zeros((3, 1, 2)), (1, 0, 1), np.nan))


@pytest.mark.parametrize(
    ("y", "sentence"),
    [
        (changed(LABELS, 1, 0.5), "In y, labels must be whole numbers, and row 2 holds 0.5."),
        (changed(LABELS, 2, 3), "In y, labels must be from 0 to 2, the model's classes, and row 3 holds 3."),
        (changed(LABELS, 0, -1), "In y, labels must be from 0 to 2, the model's classes, and row 1 holds -1."),
        (changed(LABELS, 0, 1e300), "In y, labels must be from 0 to 2, the model's classes, and row 1 holds 1e\\+300."),
        (np.array([0, 1, 2, 2**64 - 1], dtype=np.uint64), "classes, and row 4 holds 1.84467440737096e\\+19."),
        (np.ones(4, dtype=int), "In y, every label is 1: there is nothing to calibrate."),
        (np.array([0, 1, 0, 1]), "In y, no row has label 2: the data do not look like the model's 3 classes."),
        (np.stack([LABELS, LABELS], 1), "y must hold one label per row, not 2 columns."),
    ],
)
def test_labels_are_those_of_the_model(y: Any, sentence: str) -> None:
    with pytest.raises(DataError, match=sentence) as caught:
        check_data(CLASSES, X, y, allow_missing_classes=False)
    assert caught.value.field == "y"


@pytest.mark.parametrize("y", [LABELS, LABELS.astype(np.float16), LABELS.astype(">u2"), LABELS[:, None]])
def test_labels_of_any_type_are_whole_numbers(y: Any) -> None:
    found = check_data(CLASSES, X, y, allow_missing_classes=False).y
    assert found.dtype == np.int64
    assert found.tolist() == [0, 1, 2, 1]


def test_true_and_false_are_labels() -> None:
    found = check_data(CLASSES, X, LABELS > 1, allow_missing_classes=True).y
    assert found.dtype == np.int64
    assert found.tolist() == [0, 0, 1, 0]


def test_values_that_never_change_cannot_be_calibrated() -> None:
    with pytest.raises(DataError, match="y is the same in every row: there is nothing to calibrate"):
        check_data(VALUES, np.zeros((4, 1, 2)), np.ones((4, 2)), allow_missing_classes=False)


@pytest.mark.parametrize(
    ("x", "shape"),
    [
        (np.zeros((4, 1, 2)), (4, 1, 2)),
        (np.zeros((4, 2)), (4, 1, 2)),
        ([[1, 2], [3, 4]], (2, 1, 2)),
        (np.zeros((0, 2)), (0, 1, 2)),
        (torch.zeros(3, 1, 2, requires_grad=True), (3, 1, 2)),
        (torch.zeros(3, 2, dtype=torch.bfloat16), (3, 1, 2)),
        (np.zeros((3, 2), dtype=bool), (3, 1, 2)),
    ],
)
def test_inputs_of_the_right_size_take_the_shape_of_the_model(x: Any, shape: tuple[int, ...]) -> None:
    assert check_inputs(VALUES, x).shape == shape


@pytest.mark.parametrize(
    "x",
    [np.zeros((2, 3)), np.zeros(3), np.zeros((1, 2, 1, 2)), np.zeros((3, 2, 1)), np.zeros((2, 1, 1, 2)), np.zeros(2)],
    ids=lambda x: str(x.shape),
)
def test_inputs_of_another_shape_are_refused_even_if_their_numbers_are_as_many(x: Any) -> None:
    sentence = r"The model takes inputs of shape \(1, 2\) or one row of 2 numbers, but x has rows of shape"
    with pytest.raises(DataError, match=sentence) as caught:
        check_inputs(VALUES, x)
    assert caught.value.field == "x"


def test_one_input_without_the_axis_of_its_batch_is_told_how_to_get_it() -> None:
    with pytest.raises(DataError, match=r"rows of shape \(\): x\[None\] is a batch of this row alone"):
        check_inputs(VALUES, np.zeros(2))
    with pytest.raises(DataError, match=r"rows of shape \(\)\.$"):
        check_inputs(VALUES, np.zeros(3))


def test_an_image_with_its_channels_last_is_another_input() -> None:
    images = Model.from_manifest({"task": "classification", "classes": 48, "input_shape": [3, 4, 4]})
    channels_first = np.arange(96.0).reshape(2, 3, 4, 4)
    assert np.array_equal(check_inputs(images, channels_first.reshape(2, 48)), channels_first)
    with pytest.raises(DataError, match=r"but x has rows of shape \(4, 4, 3\)"):
        check_inputs(images, channels_first.transpose(0, 2, 3, 1))


def test_one_number_a_row_needs_no_second_dimension() -> None:
    one = Model.from_manifest({"task": "regression", "input_shape": [1]})
    assert check_inputs(one, np.arange(3.0)).tolist() == [[0.0], [1.0], [2.0]]


@pytest.mark.parametrize("kind", ["<f4", ">f4", "<f8", ">f8", "<i2", ">i8", "<u1", "g"])
def test_numbers_of_any_machine_become_those_of_this_one(kind: str) -> None:
    found = as_numbers("x", np.array([1, 2, 3], dtype=kind))
    assert found.dtype.isnative
    assert found.dtype.itemsize <= 8
    assert found.tolist() == [1, 2, 3]


def test_numbers_that_are_fine_are_not_copied() -> None:
    assert as_numbers("x", X) is X
    assert check_inputs(CLASSES, X) is X


def test_an_upload_may_hold_vectors_and_one_column_is_a_number() -> None:
    assert DatasetArrays.checked(X, X[:, :2]).y.shape == (4, 2)
    assert DatasetArrays.checked(X, X[:, :1]).y.shape == (4,)
    assert DatasetArrays.checked(X, LABELS > 0).y.dtype == np.int64
    with pytest.raises(DataError, match=r"one number or one vector per row, not rows of shape \(1, 2\)"):
        DatasetArrays.checked(X, np.zeros((4, 1, 2)))
    with pytest.raises(DataError, match="x has no columns"):
        DatasetArrays.checked(X[:, :0], LABELS)


def test_the_hash_of_data_stays_what_certificates_hold() -> None:
    x, y = np.arange(6.0).reshape(3, 2), np.arange(3)
    digest = "449a5ad8dbb9ca42a80de3cafef3bd714e80d7a88212420d336c19a27a59d836"
    assert CheckedData(x, y).sha256 == CheckedData(np.asfortranarray(x), y).sha256 == digest
    many = CheckedData(np.arange(70_000, dtype=np.float32)[:, None], np.arange(70_000.0)[:, None])
    assert many.sha256 == "4e86abf3180a68af6c81b3ac862cbb36b5fd031c2ad7e0ad7c852c8bcbad69e2"


def test_files_and_arrays_are_checked_without_torch() -> None:
    program = (
        "import sys; import certiset.core.data, certiset.core.jobs.datasets, certiset.core.jobs.messages; "
        "assert certiset.core.data.suffixes(); sys.exit(bool({'torch', 'pyarrow', 'safetensors'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-P", "-c", program], check=False).returncode == 0
