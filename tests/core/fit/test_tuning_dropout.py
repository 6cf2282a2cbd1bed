"""Dropout while a prior is tuned: what it does to a batch, and where it is used."""

from typing import Any

import numpy as np
import pytest
import torch

from certiset.core.errors import OptionError
from certiset.core.fit import fit
from certiset.core.fit.model_defaults import tuning_schedule
from certiset.core.fit.objectives import BatchSampler
from certiset.core.fit.options import PriorOptions
from certiset.core.fit.rows import Rows
from certiset.core.models import Model

WIDE = {
    "task": "classification",
    "classes": 5,
    "input_shape": [80],
    "head": {"kind": "mlp", "widths": [80, 40, 5], "activation": "relu"},
}


def wide_model(seed: int = 0) -> Model:
    random = np.random.default_rng(seed)
    weights = {
        "head.0.weight": 0.1 * random.normal(size=(40, 80)),
        "head.0.bias": np.zeros(40),
        "head.1.weight": 0.1 * random.normal(size=(5, 40)),
        "head.1.bias": np.zeros(5),
    }
    return Model.from_manifest(WIDE, weights)


def test_a_batch_keeps_its_mean_and_loses_its_share() -> None:
    features = torch.ones(500, 200)
    rows = Rows(features, features, torch.zeros(500))
    batch = BatchSampler(rows, 500, torch.Generator().manual_seed(0), dropout=0.3).next()
    np.testing.assert_allclose(np.unique(batch.features.numpy()), [0, 1 / 0.7], rtol=1e-6)
    assert float((batch.features == 0).float().mean()) == pytest.approx(0.3, abs=0.01)
    assert float(batch.features.mean()) == pytest.approx(1, abs=0.01)
    plain = BatchSampler(rows, 500, torch.Generator().manual_seed(0)).next()
    assert torch.equal(plain.features, features)


def test_wide_heads_use_it_and_nothing_else_does() -> None:
    def dropout(features: int, tunes_head: bool = True, **prior: float) -> float:
        return tuning_schedule(PriorOptions(**prior), tunes_head=tunes_head, features=features).dropout

    assert dropout(80) == 0.3
    assert dropout(63) == 0
    assert dropout(80, dropout=0.0, rate=0.5) == 0
    assert dropout(80, tunes_head=False) == 0


@pytest.mark.parametrize("dropout", [-0.1, 1, "much"])
def test_a_share_that_is_none_is_refused(dropout: Any) -> None:
    x, y = np.zeros((50, 80)), np.arange(50) % 5
    with pytest.raises(OptionError, match=r"prior\.dropout must be (at least 0|less than 1|a number), not"):
        fit(wide_model(), x, y, alpha=0.2, prior={"dropout": dropout})
