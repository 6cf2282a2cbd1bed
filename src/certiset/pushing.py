"""`certiset.push`: a fitted predictor sent to a service, which checks it, marks it as imported, and serves it."""

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from certiset.service.client import Client

if TYPE_CHECKING:
    from certiset.core.fit import Predictor
    from certiset.core.resources import Predictor as ServedPredictor


def push(
    predictor: "Predictor | str | os.PathLike[str]", url: str | None = None, key: str | None = None, *, name: str = ""
) -> "ServedPredictor":
    """Sends model, members and certificate of a predictor, or of the folder that it was saved to.

    A model that lives in memory is converted first, as `Predictor.save` does it. Where url or key are left out, they
    are those of `Client`.
    """
    with Client(url, key) as client:
        if isinstance(predictor, str | os.PathLike):
            return client.predictors.upload(predictor, name=name)
        with tempfile.TemporaryDirectory() as folder:
            predictor.save(Path(folder))
            return client.predictors.upload(folder, name=name)
