"""Another population than that of the rows: which of them calibrate, so that they are draws from it, and in words."""

from dataclasses import dataclass

WEIGHTS, TARGET, PREVALENCES = "weights", "target", "prevalences"
KINDS = (WEIGHTS, TARGET, PREVALENCES)
_OF = {
    WEIGHTS: "inputs of the population that the given weights describe",
    TARGET: "inputs of the population that the estimated weights describe",
    PREVALENCES: "inputs whose classes are as frequent as the given prevalences say",
}
_DRAWN = {
    WEIGHTS: (
        "Calibration rows are drawn independently from one distribution, and future inputs from the population that "
        "the weights describe: weights are its density with respect to that distribution, up to a factor, whatever "
        "made them. They, their bound and the seed were fixed without the calibration rows. After a drift the promise "
        "is void."
    ),
    TARGET: (
        "Calibration rows and target inputs are drawn independently, each from one distribution; truths depend on "
        "inputs alike in both. The weights were estimated, by a classifier that tells target inputs from calibration "
        "rows, and clipped: the promise is for the population that they describe, which is that of the target inputs "
        "only so far as the estimate is right. After a drift the promise is void."
    ),
    PREVALENCES: (
        "Calibration rows are drawn independently from one distribution. In the population of future inputs the "
        "classes are as frequent as the given prevalences say, and the inputs of each class are distributed as they "
        "are among the calibration rows. The prevalences and the seed were fixed without the calibration rows. After "
        "a drift the promise is void."
    ),
}
ESTIMATED = (
    "The weights that turn calibration rows into draws from the target population were estimated, which is no proof: "
    "where the estimate is wrong, more may be missed than is promised. Report outcomes, by which the monitor sees it, "
    "and calibrate on labelled target rows as soon as there are some."
)


@dataclass(frozen=True)
class Shift:
    """How rows were chosen so that they are independent draws from another population: without looking at scores."""

    kind: str
    """weights: kept in proportion to given weights; target: to estimated ones; prevalences: drawn by their class"""
    kept: int
    """rows that are used, all others being left out"""
    column: str | None = None
    """that holds the weights; null for an array"""
    weights_sha256: str | None = None
    """of the weights of all rows that could be kept, as float64"""
    weight_bound: float | None = None
    """what no weight exceeds; of estimated weights, where they are clipped"""
    effective: float | None = None
    """the sum of weight / bound: how many rows would be kept on average"""
    prevalences: list[float] | None = None
    """of the classes in the population that is meant"""
    counts: list[int] | None = None
    """rows of each class that there were"""
    epsilon: float | None = None
    """the chance, at most, that some class would have had too few rows, and there would be no certificate"""
    target_sha256: str | None = None
    """of the target inputs that weights were estimated from"""
    target_rows: int | None = None
    trained_on: int | None = None
    """calibration rows that trained the classifier, and are used for nothing else"""


def inputs_of(shift: Shift) -> str:
    """Whom the promise is for, after "future"."""
    return _OF.get(shift.kind, _OF[WEIGHTS])


def drawn(shift: Shift) -> str:
    """The assumption about what is drawn from where."""
    return _DRAWN.get(shift.kind, _DRAWN[WEIGHTS])
