"""Recurrent networks: each row is a sequence of its own."""

from certiset.core.graphs.row_proof.call import Call, rule
from certiset.core.graphs.row_proof.values import NotProvedError, Value, count, of_rows

_ELSEWHERE = "expects the rows in another place"


@rule("RNN", "GRU", "LSTM")
def recurrent(call: Call) -> list[Value]:
    """Weights are constants; the state before the first step is zero, or one for each row."""
    x = call.data()
    if call.attribute("layout", 0) or call.has(4) or x.rank != 3 or x.rows is None or x.rows.axis != 1:
        raise NotProvedError(_ELSEWHERE)
    for number in (1, 2, 3, 7):
        if call.has(number):
            call.constant(number)
    for number in (5, 6):
        if call.has(number) and (call.data(number).rank != 3 or call.data(number).rows != x.rows):
            raise NotProvedError(_ELSEWHERE)
    directions, _, hidden = (count([side]) for side in call.constant(2).shape)
    all_steps = of_rows([x.shape[0], directions, None, hidden], x.rows.moved(2))
    last = of_rows([directions, None, hidden], x.rows)
    return [all_steps, last, last]
