"""From floats to small whole numbers and back, with scales that are known beforehand."""

from certiset.core.graphs.row_proof.call import Call, rule
from certiset.core.graphs.row_proof.rules.selection import off_the_rows
from certiset.core.graphs.row_proof.values import NotProvedError, Value, place


@rule("QuantizeLinear", "DequantizeLinear")
def quantise(call: Call) -> Value:
    x = call.data()
    call.constants(1)
    if call.attribute("block_size", 0) or call.raw(1).rank > 1:
        raise NotProvedError("has scales of blocks")
    if call.raw(1).shape not in ((), (1,)):
        off_the_rows(x, place(call.attribute("axis", 1), x.rank))
    return x.forgotten()
