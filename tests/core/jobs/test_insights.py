"""What a page shows before a calibration, whatever the data set holds."""

import numpy as np
import pytest

from certiset.core.data import DatasetArrays
from certiset.core.jobs.insights import profile_of
from certiset.core.store import Store
from tests.service.server import as_dataset


@pytest.mark.parametrize(
    ("low", "high", "bars"),
    [(0.5, 1.0, 16), (-1.7e308, 1.7e308, 16), (1.0, np.nextafter(1.0, 2.0), 1), (0.0, 5e-324, 1), (0.5, 0.5, 1)],
)
def test_targets_of_any_spread_have_a_histogram(store: Store, low: float, high: float, bars: int) -> None:
    rows = DatasetArrays.checked(np.zeros((50, 2)), np.array([low, high] * 25))
    with store.writing() as work:
        made = work.datasets.add(as_dataset(store, "ada", rows)).id
    found = profile_of(store, "ada", made)
    assert found.edges is not None
    assert found.heights is not None
    assert (len(found.edges), len(found.heights), sum(found.heights)) == (bars + 1, bars, 50)
