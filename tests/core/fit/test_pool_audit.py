"""A pool recomputed from its data: each member on its own block, sizes on the last one."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from certiset.core.fit import Predictor, fit
from certiset.core.fit.audit import audit
from certiset.core.fit.saved_predictor import TENSORS
from certiset.core.models import Model
from tests.core.fit.pools import hand_pool
from tests.core.fit.problems import Arrays, class_data, class_model, toy_data, toy_model

PROBLEMS: dict[str, tuple[Model, Arrays, dict[str, Any]]] = {
    "labels": (class_model(), class_data(1000, 0), {"sizes": [200, 300]}),
    "widths": (toy_model(), toy_data(1200, 0), {"sizes": [150, 200, 250], "size_cap": 6.0}),
    "one width": (toy_model(), toy_data(1000, 0), {"sizes": [200, 300], "score": "residual", "tune": "head"}),
}


def audited(predictor: Predictor, model: Model, data: Arrays, folder: Path) -> dict[str, bool]:
    predictor.save(folder)
    found = audit(predictor.certificate, model, *data, folder / TENSORS, predictor.stored.description())
    return {check.name: check.ok for check in found}


@pytest.mark.parametrize("name", PROBLEMS)
def test_everything_agrees(name: str, tmp_path: Path) -> None:
    model, data, settings = PROBLEMS[name]
    predictor = hand_pool(model, *data, **settings)
    said = audited(predictor, model, data, tmp_path)
    assert all(said.values()), said
    for member in range(predictor.members):
        assert f"threshold of member {member}" in said
    assert "mean size" in said
    assert ("mean efficiency of member 1" in said) == (name != "one width")


def test_a_real_fit_agrees_with_its_own_data(tmp_path: Path) -> None:
    model, data = class_model(), class_data(600, 0)
    predictor = fit(model, *data, method="progressive", prior={"steps": 30})
    said = audited(predictor, model, data, tmp_path)
    assert all(said.values()), said
    assert "threshold of member 1" in said
    assert "points that tune, and that calibrate" in said


def test_blocks_in_another_order_are_noticed(tmp_path: Path) -> None:
    """Each threshold belongs to the rows of its own block."""
    model, data, settings = PROBLEMS["labels"]
    predictor = hand_pool(model, *data, **settings)
    certificate = predictor.certificate
    members = [replace(one, n=n) for one, n in zip(certificate.members, (300, 200), strict=True)]
    said = audited(replace(predictor, certificate=replace(certificate, members=members)), model, data, tmp_path)
    assert not said["threshold of member 0"]
    assert not said["threshold of member 1"]


def test_other_rows_and_other_numbers_of_them_are_noticed(tmp_path: Path) -> None:
    model, (x, y), settings = PROBLEMS["labels"]
    predictor = hand_pool(model, x, y, **settings)
    said = audited(predictor, model, (np.where(np.arange(len(x))[:, None] % 3, x, -x), y), tmp_path)
    assert not said["data's SHA-256"]
    assert not said["threshold of member 1"]
    certificate = predictor.certificate
    members = [replace(one, n=100) for one in certificate.members]
    fewer = replace(predictor, certificate=replace(certificate, members=members))
    assert not audited(fewer, model, (x, y), tmp_path)["points that calibrate"]
