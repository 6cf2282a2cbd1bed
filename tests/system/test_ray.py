"""Sets by the real Ray Data, in an environment of its own, with one worker and with two."""

import json
from pathlib import Path

import pytest

from tests.system.environments import environment_with, run_in

_PROGRAM = """
import json
import sys
import numpy as np
import ray
from certiset import Model, fit
from certiset.batch import SetPredictor

rng = np.random.default_rng(0)
y = rng.integers(3, size=600)
x = 2 * np.eye(3)[y] + rng.normal(size=(600, 3))
manifest = {"name": "m", "task": "classification", "classes": 3, "input_shape": [3], "labels": ["ash", "oak", "yew"]}
predictor = fit(Model.from_manifest(manifest), x, y, method="standard")
predictor.save("saved")
ray.init(num_cpus=3, include_dashboard=False, logging_level="error", log_to_driver=False)
ray.data.DataContext.get_current().enable_progress_bars = False
rows = ray.data.from_items([{"id": place, "x": row.tolist()} for place, row in enumerate(x)])
import os

folder, expected = os.path.abspath("saved"), predictor.predict_set(x, 0).to_json()
for workers in (1, 2):
    answer = rows.map_batches(
        SetPredictor,
        fn_constructor_args=[folder],
        fn_constructor_kwargs={"keep": ["id"], "member": 0},
        concurrency=workers,
        batch_size=100,
    )
    found = sorted(answer.take_all(), key=lambda row: row["id"])
    assert [row["id"] for row in found] == list(range(600))
    assert [list(row["labels"]) for row in found] == [one["labels"] for one in expected]
    assert [list(row["names"]) for row in found] == [one["names"] for one in expected]
    print(json.dumps({"workers": workers, "rows": len(found)}))
ray.shutdown()
"""


@pytest.fixture(scope="module", name="programs")
def programs_(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return environment_with(tmp_path_factory.mktemp("ray") / "env", "ray[data]")


def test_one_worker_and_two_give_the_sets_of_the_predictor(programs: Path, tmp_path: Path) -> None:
    printed = run_in(programs, "python", "-c", _PROGRAM, cwd=tmp_path, RAY_USAGE_STATS_ENABLED="0")
    told = [json.loads(line) for line in printed.splitlines() if line.startswith("{")]
    assert told == [{"workers": 1, "rows": 600}, {"workers": 2, "rows": 600}]
