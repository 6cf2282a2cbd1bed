"""Products of matrices, plain and quantised. Two values of rows are multiplied row by row, never all with all."""

from collections.abc import Sequence

from certiset.core.graphs.row_proof.broadcasting import broadcast
from certiset.core.graphs.row_proof.call import Call, rule
from certiset.core.graphs.row_proof.values import Extent, NotProvedError, Rows, Value, like, of_rows

_CONTRACTED = "sums over rows"


def matrix_product(a: Value, b: Value) -> Value:
    """As NumPy's matmul."""
    if a.rank == 0 or b.rank == 0:
        raise NotProvedError("multiplies something that is not a matrix")
    left = a if a.rank > 1 else like(a, (1, *a.shape), a.rows and a.rows.moved(1))
    right = b if b.rank > 1 else like(b, (*b.shape, 1), b.rows and b.rows.moved(0))
    for value, summed in ((left, left.rank - 1), (right, right.rank - 2)):
        if value.rows is not None and value.rows.axis == summed:
            raise NotProvedError(_CONTRACTED)
    rank = max(left.rank, right.rank)
    outside = [rows for rows in (_of_matrix(left, rank), _of_matrix(right, rank)) if rows is not None]
    if outside and left.rows is not None and right.rows is not None:
        raise NotProvedError("multiplies rows with other rows")
    stack = broadcast([_stack(left), _stack(right)])
    shape: list[Extent] = [*stack.shape, left.shape[-2], right.shape[-1]]
    rows = outside[0] if outside else stack.rows
    dropped = [axis for axis, value in ((rank - 2, a), (rank - 1, b)) if value.rank == 1]
    if rows is not None:
        rows = rows.moved(rows.axis - sum(axis < rows.axis for axis in dropped))
    kept = [side for axis, side in enumerate(shape) if axis not in dropped]
    return Value(tuple(kept)) if rows is None else of_rows(kept, rows)


def _of_matrix(value: Value, rank: int) -> Rows | None:
    """The rows, if they are one of the last two axes, in a result of that rank."""
    if value.rows is None or value.rows.axis < value.rank - 2:
        return None
    return value.rows.moved(value.rows.axis + rank - value.rank)


def _stack(value: Value) -> Value:
    """The axes before the last two, over which matrices are multiplied one by one."""
    inside = value.rows if value.rows is not None and value.rows.axis < value.rank - 2 else None
    return Value(value.shape[:-2], inside)


@rule("MatMul")
def matmul(call: Call) -> Value:
    return matrix_product(call.data(0), call.data(1))


@rule("Gemm")
def gemm(call: Call) -> Value:
    a, b = (_turned(call.data(number), call.attribute(name, 0)) for number, name in enumerate(("transA", "transB")))
    product = matrix_product(a, b)
    if not call.has(2):
        return product
    found = broadcast([product, call.data(2)])
    if found.rank != product.rank:
        raise NotProvedError("combines shapes that do not fit")
    return found


def _turned(value: Value, transposed: int) -> Value:
    if value.rank != 2:
        raise NotProvedError("multiplies something that is not a matrix")
    return like(value, value.shape[::-1], value.rows and value.rows.moved(1 - value.rows.axis)) if transposed else value


@rule("MatMulInteger")
def matmul_integer(call: Call) -> Value:
    _scalars(call, (2, 3))
    return matrix_product(call.data(0), call.data(1))


@rule("QLinearMatMul")
def quantised_matmul(call: Call) -> Value:
    _scalars(call, (1, 2, 6, 7))
    call.constant(4)
    call.constant(5)
    if call.data(3).rows is not None and call.raw(4).rank > 0 and call.raw(4).shape != (1,):
        raise NotProvedError("has scales that depend on the place in the batch")
    return matrix_product(call.data(0), call.data(3))


def _scalars(call: Call, numbers: Sequence[int]) -> None:
    """One scale or zero point for all rows, known beforehand."""
    for number in numbers:
        if call.has(number) and call.constant(number).shape not in ((), (1,)):
            raise NotProvedError("has scales that depend on the place in the batch")


@rule("Einsum")
def einsum(call: Call) -> Value:
    """The letter of the rows stands once in each input that has rows, in no other input, and once in the output."""
    equation = str(call.attribute("equation", b""), "utf-8", "replace").replace(" ", "")
    left, arrow, output = equation.partition("->")
    terms = left.split(",")
    inputs = [call.data(number) for number in range(len(call))]
    if not arrow or "." in equation or [len(term) for term in terms] != [value.rank for value in inputs]:
        raise NotProvedError("has an equation that is not followed")
    letters = {term[value.rows.axis] for term, value in zip(terms, inputs, strict=True) if value.rows is not None}
    kinds = {(value.rows.outer, value.rows.inner) for value in inputs if value.rows is not None}
    sides: dict[str, Extent] = {}
    for term, value in zip(terms, inputs, strict=True):
        for letter, side in zip(term, value.shape, strict=True):
            if sides.get(letter, 1) in (1, None):
                sides[letter] = side
    if set(output) - set(sides) or len(set(output)) != len(output):
        raise NotProvedError("has an equation that is not followed")
    if not letters:
        return Value(tuple(sides[letter] for letter in output))
    if len(letters) > 1 or len(kinds) > 1:
        raise NotProvedError("multiplies rows with other rows")
    (letter,) = letters
    for term, value in zip(terms, inputs, strict=True):
        if term.count(letter) != (value.rows is not None):
            raise NotProvedError("multiplies rows with other rows")
    if output.count(letter) != 1:
        raise NotProvedError(_CONTRACTED)
    return of_rows([sides[letter] for letter in output], Rows(output.index(letter), *kinds.pop()))
