"""Operators that compute each entry from the entries in the same place."""

from certiset.core.graphs.row_proof import arithmetic
from certiset.core.graphs.row_proof.broadcasting import broadcast
from certiset.core.graphs.row_proof.call import CLASSICAL, Call, rule
from certiset.core.graphs.row_proof.values import NotProvedError, Value, known

_OF_ONE = [
    "Abs",
    "Acos",
    "Acosh",
    "Asin",
    "Asinh",
    "Atan",
    "Atanh",
    "BitwiseNot",
    "Ceil",
    "Celu",
    "Cos",
    "Cosh",
    "Elu",
    "Erf",
    "Exp",
    "Floor",
    "Gelu",
    "HardSigmoid",
    "HardSwish",
    "Identity",
    "IsInf",
    "IsNaN",
    "LeakyRelu",
    "Log",
    "Mish",
    "Neg",
    "Not",
    "Reciprocal",
    "Relu",
    "Round",
    "Selu",
    "Shrink",
    "Sigmoid",
    "Sign",
    "Sin",
    "Sinh",
    "Softplus",
    "Softsign",
    "Sqrt",
    "Swish",
    "Tan",
    "Tanh",
    "ThresholdedRelu",
]
_OF_MANY = [
    "Add",
    "And",
    "BitShift",
    "BitwiseAnd",
    "BitwiseOr",
    "BitwiseXor",
    "Div",
    "Equal",
    "Greater",
    "GreaterOrEqual",
    "Less",
    "LessOrEqual",
    "Max",
    "Mean",
    "Min",
    "Mod",
    "Mul",
    "Or",
    "Pow",
    "Sub",
    "Sum",
    "Where",
    "Xor",
]


@rule(*_OF_ONE, *_OF_MANY)
def entry_by_entry(call: Call) -> Value:
    inputs = [call.raw(number) for number in range(len(call))]
    contents = [value.content for value in inputs if value.content is not None]
    folds = arithmetic.folds(call.operator) and not call.attribute("fmod", 0)
    if len(contents) == len(inputs) and folds:
        return known(arithmetic.fold(call.operator, contents))
    return broadcast([call.data(number) for number in range(len(call))])


@rule("PRelu")
def stretched_to_the_first(call: Call) -> Value:
    """The slope is stretched to the input, never the other way round."""
    found = broadcast([call.data(0), call.data(1)])
    if found.rank != call.data(0).rank:
        raise NotProvedError("combines shapes that do not fit")
    return found


@rule("Clip")
def clip(call: Call) -> Value:
    call.constants(1)
    return call.data().forgotten()


@rule("Cast", "CastLike")
def cast(call: Call) -> Value:
    x = call.raw()
    if x.content is None or call.operator == "CastLike":
        return x.forgotten()
    content = arithmetic.cast(x.content, call.attribute("to"))
    return x.forgotten() if content is None else known(content)


@rule("Dropout")
def dropout(call: Call) -> list[Value]:
    """Graphs in which it would drop anything are refused before."""
    x = call.data().forgotten()
    return [x, x]


@rule("Binarizer", "LabelEncoder", "CategoryMapper", domain=CLASSICAL)
def table(call: Call) -> Value:
    return call.data().forgotten()
