"""Models as people export them: each is a function of one row, and runs in batches wherever the proof reaches."""

import numpy as np
import pytest

from certiset.core.graphs import GraphSession
from tests.core.graphs.company import differs
from tests.core.graphs.exports import EXPORTS, data

BEYOND_THE_PROOF = {"neighbours"}


@pytest.mark.parametrize("name", EXPORTS)
def test_an_export_treats_rows_one_by_one(name: str) -> None:
    made, row_shape = EXPORTS[name]
    x = data()[0][:6]
    if x.shape[1:] != row_shape:
        x = np.random.default_rng(0).standard_normal((6, *row_shape)).astype(np.float32)
    session = GraphSession(made())
    assert differs(session, x) < 1e-5
    assert session.row_proof.proved == (name not in BEYOND_THE_PROOF), session.row_proof.reason
