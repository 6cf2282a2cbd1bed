"""What the walk through a file proves of it."""

from certiset.core.graphs import RowProof
from certiset.core.graphs.row_proof.graph_file import outline, read_model
from certiset.core.graphs.row_proof.walk import prove
from tests.core.graphs.nodes import COLUMNS


def proof_of(content: bytes, *row_shape: int) -> RowProof:
    return prove(outline(read_model(content)), row_shape or (COLUMNS,))
