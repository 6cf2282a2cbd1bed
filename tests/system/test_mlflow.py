"""Predictors as models of the real MLflow, in an environment of its own: saved, logged, loaded, run by its command."""

import json
from pathlib import Path

import pytest

from tests.system.environments import environment_with, run_in

_TABLE = """
import sys
import numpy as np
import pandas as pd
import certiset.mlflow

assert "mlflow" not in sys.modules
from certiset import Model, fit

rng = np.random.default_rng(0)
y, site = rng.integers(3, size=600), np.array(["north", "south"])[rng.integers(2, size=600)]
table = pd.DataFrame(2 * np.eye(3)[y] + rng.normal(size=(600, 3)), columns=["a", "b", "c"])
table["site"] = site
manifest = {"name": "m", "task": "classification", "classes": 3, "input_shape": [3], "labels": ["ash", "oak", "yew"]}
predictor = fit(Model.from_manifest(manifest), table, y, method="standard", groups="site")
certiset.mlflow.save_model(predictor, "saved", input_example=table[:2])

import mlflow

assert certiset.mlflow.load_model("saved").certificate.digest == predictor.certificate.digest
loaded = mlflow.pyfunc.load_model("saved")
assert loaded.metadata.metadata["certificate_sha256"] == predictor.certificate.digest
assert loaded.metadata.get_input_schema().input_names() == ["a", "b", "c", "site"]
found = loaded.predict(table[:50])
expected = predictor.predict_set(table[:50], found["member"].to_numpy()).to_json()
assert [list(row) for row in found["labels"]] == [one["labels"] for one in expected]
assert [list(row) for row in found["names"]] == [one["names"] for one in expected]
"""
_LEVELS = """
import numpy as np
import mlflow
import certiset.mlflow
from certiset import Model, fit
from certiset.core.errors import DataError

mlflow.set_tracking_uri("sqlite:///tracking.db")
rng = np.random.default_rng(0)
y = rng.integers(3, size=600)
x = 2 * np.eye(3)[y] + rng.normal(size=(600, 3))
manifest = {"name": "m", "task": "classification", "classes": 3, "input_shape": [3]}
predictor = fit(Model.from_manifest(manifest), x, y, method="standard", alpha="all")
with mlflow.start_run():
    logged = certiset.mlflow.log_model(predictor, name="triage", input_example=x[:2])
assert certiset.mlflow.load_model(logged.model_uri).certificate.id == predictor.certificate.id
found = mlflow.pyfunc.load_model(logged.model_uri).predict(x[:50], params={"alpha": 0.25})
expected = predictor.predict_set(x[:50], found["member"].to_numpy(), alpha=0.25).to_json()
assert [list(row) for row in found["labels"]] == [one["labels"] for one in expected]


class Other(mlflow.pyfunc.PythonModel):
    def predict(self, context, model_input):
        return model_input


mlflow.pyfunc.save_model("other", python_model=Other())
try:
    certiset.mlflow.load_model("other")
except DataError as error:
    assert str(error) == "other is a model of MLflow, but none that certiset.mlflow has saved."
else:
    raise AssertionError
"""


@pytest.fixture(scope="module", name="programs")
def programs_(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return environment_with(tmp_path_factory.mktemp("mlflow") / "env", "mlflow-skinny>=3.1")


def test_a_saved_model_is_loaded_and_run_by_mlflow_s_own_command(programs: Path, tmp_path: Path) -> None:
    run_in(programs, "python", "-c", _TABLE, cwd=tmp_path)
    assert not [file for file in (tmp_path / "saved").rglob("*") if file.suffix in (".pkl", ".pickle")]
    rows = {"columns": ["c", "a", "b", "site"], "data": [[0, 4, 0, "north"], [4, 0, 0, "south"]]}
    (tmp_path / "rows.json").write_text(json.dumps({"dataframe_split": rows}))
    files = ["-m", "saved", "-i", "rows.json", "-o", "sets.json"]
    run_in(programs, "mlflow", "models", "predict", *files, "--env-manager", "local", cwd=tmp_path)
    answer = json.loads((tmp_path / "sets.json").read_text())["predictions"]
    assert [one["names"] for one in answer] == [["ash"], ["yew"]]
    assert [one["size"] for one in answer] == [1, 1]


def test_a_logged_model_takes_alpha_and_another_model_is_refused(programs: Path, tmp_path: Path) -> None:
    run_in(programs, "python", "-c", _LEVELS, cwd=tmp_path)
