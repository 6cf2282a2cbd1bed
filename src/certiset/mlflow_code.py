"""The code of a predictor that is a model of MLflow, which runs this file: the answer is a table, one row per input."""

from typing import Any

import numpy as np
import pandas as pd
from mlflow.models import set_model
from mlflow.pyfunc import PythonModel

from certiset.batch import SetPredictor


class SetModel(PythonModel):  # type: ignore[misc]
    def load_context(self, context: Any) -> None:
        self.folder = context.artifacts["predictor"]
        self.sets = SetPredictor(self.folder, keep=[])
        # Loaded now: a server that cannot load it must not start.
        self.sets.predictor  # noqa: B018

    # Without types: MLflow takes them for a schema of its own.
    def predict(self, context, model_input, params=None):  # type: ignore[no-untyped-def]
        """``params`` may have ``alpha``, where the promise is for all of them."""
        alpha = (params or {}).get("alpha")
        sets = self.sets if alpha is None else self._at(float(alpha))
        if isinstance(model_input, pd.DataFrame):
            return sets(model_input)
        found = sets({sets.x: np.asarray(model_input)})
        return pd.DataFrame({name: list(column) for name, column in found.items()})

    def _at(self, alpha: float) -> SetPredictor:
        sets = SetPredictor(self.folder, keep=[], alpha=alpha)
        vars(sets)["predictor"] = self.sets.predictor
        return sets


set_model(SetModel())
