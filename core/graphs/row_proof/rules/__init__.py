"""What is known of each operator, one family a file: where the rows are in its outputs, if it keeps them apart."""

from certiset.core.graphs.row_proof.rules import (
    classical,
    elementwise,
    images,
    products,
    quantisation,
    recurrent,
    reductions,
    reshaping,
    selection,
    sizes,
)

__all__ = [
    "classical",
    "elementwise",
    "images",
    "products",
    "quantisation",
    "recurrent",
    "reductions",
    "reshaping",
    "selection",
    "sizes",
]
