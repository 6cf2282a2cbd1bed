"""If and Loop: the way through them must be the same whatever the rows are and however many there are."""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from certiset.core.graphs.row_proof.values import NotProvedError, Unproved, Value, like

Body: TypeAlias = Callable[[str, Sequence[Value]], "list[Value | Unproved]"]
"""the outputs of a graph inside, by the attribute that holds it and by its inputs"""


def branch(inputs: Sequence[Value | None], body: Body) -> list[Value | Unproved]:
    condition = inputs[0]
    _check_fixed(condition, "branches on")
    if condition is not None and condition.content is not None:
        return body("then_branch" if condition.content.reshape(-1)[0] else "else_branch", [])
    one, other = body("then_branch", []), body("else_branch", [])
    return [_either(a, b) for a, b in zip(one, other, strict=True)]


def _either(a: Value | Unproved, b: Value | Unproved) -> Value | Unproved:
    if isinstance(a, Unproved) or isinstance(b, Unproved):
        return a if isinstance(a, Unproved) else b
    if not a.same_as(b):
        return Unproved("If has branches with different shapes")
    return a.forgotten()


def loop(inputs: Sequence[Value | None], body: Body) -> list[Value | Unproved]:
    """What is carried from turn to turn must keep its shape and its rows: then it does so in every turn."""
    turns, go_on = inputs[:2]
    _check_fixed(turns, "counts its turns by")
    _check_fixed(go_on, "goes on depending on")
    carried = [value.forgotten() for value in inputs[2:] if value is not None]
    if len(carried) != len(inputs) - 2:
        raise NotProvedError("lacks an input")
    scalar = Value(())
    again, *outputs = body("body", [scalar, scalar, *carried])
    if isinstance(again, Unproved):
        return [again] * len(outputs)
    _check_fixed(again, "goes on depending on")
    for before, after in zip(carried, outputs, strict=False):
        if isinstance(after, Unproved):
            return [after] * len(outputs)
        if not before.same_as(after):
            raise NotProvedError("changes shapes from turn to turn")
    always = _is_true(again) and (go_on is None or _is_true(go_on))
    length = int(turns.content.reshape(-1)[0]) if always and turns is not None and turns.content is not None else None
    return [*carried, *(_stacked(value, length) for value in outputs[len(carried) :])]


def _stacked(value: Value | Unproved, length: int | None) -> Value | Unproved:
    """What is kept of every turn, one after the other."""
    if isinstance(value, Unproved):
        return value
    plain = value.forgotten()
    return like(plain, [length, *plain.shape], plain.rows and plain.rows.moved(plain.rows.axis + 1))


def _is_true(value: Value) -> bool:
    return value.content is not None and bool(value.content.reshape(-1)[0])


def _check_fixed(value: Value | None, does: str) -> None:
    if value is None:
        return
    if value.rows is not None:
        raise NotProvedError(f"{does} the rows")
    if value.sized:
        raise NotProvedError(f"{does} the number of rows")
