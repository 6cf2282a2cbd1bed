"""The client: one connection, and the API's resources by their names."""

from collections.abc import Sequence
from typing import Any, Self, overload

from numpy.typing import NDArray

from certiset.core.resources import Ready, Usage
from certiset.service.client.audit import AuditLog
from certiset.service.client.batches import Batches
from certiset.service.client.calibrations import Calibrations
from certiset.service.client.certificates import Certificates
from certiset.service.client.connection import BUSY, Connection
from certiset.service.client.datasets import Datasets
from certiset.service.client.defaults import default_key, default_url
from certiset.service.client.deployments import Deployments
from certiset.service.client.models import Models
from certiset.service.client.outcomes import Outcomes
from certiset.service.client.predict import Cases, predict
from certiset.service.client.predictions import Prediction, Predictions
from certiset.service.client.predictors import Predictors


class Client:
    """Speaks to one server, with one key.

    ``url`` defaults to CERTISET_URL, or this machine's port 8000; ``key`` to CERTISET_KEY, or, for a server on this
    machine, to what `certiset up` wrote to CERTISET_HOME/key or ./var/key.

        with Client() as client:
            dataset = client.datasets.upload("calibration.npz")
            model = client.models.upload({"task": "classification", "classes": 10, "input_shape": [10]})
            ended = client.calibrations.wait(client.calibrations.start(dataset.id, model.id, alpha=0.1).id)
            print(client.predict_set(ended.predictor_id, [0, 0, 3, 0, 0, 0, 0, 0, 0, 1]).set)
    """

    def __init__(self, url: str | None = None, key: str | None = None, timeout: float = 60.0) -> None:
        chosen = url or default_url()
        self._connection = Connection(chosen, key or default_key(chosen), timeout)
        self.datasets = Datasets(self._connection)
        self.models = Models(self._connection)
        self.calibrations = Calibrations(self._connection)
        self.predictors = Predictors(self._connection)
        self.batches = Batches(self._connection)
        self.deployments = Deployments(self._connection)
        self.certificates = Certificates(self._connection)
        self.outcomes = Outcomes(self._connection)
        self.audit = AuditLog(self._connection)

    def __repr__(self) -> str:
        return f"Client of {self._connection.url}"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._connection.close()

    @property
    def url(self) -> str:
        return self._connection.url

    @overload
    def predict_set(
        self,
        predictor: str,
        x: Sequence[Sequence[Any]],
        *,
        member: int | None = None,
        cases: Cases = None,
        groups: Any = None,
        alpha: float | None = None,
    ) -> Predictions: ...
    @overload
    def predict_set(
        self,
        predictor: str,
        x: float | Sequence[float],
        *,
        member: int | None = None,
        cases: Cases = None,
        groups: Any = None,
        alpha: float | None = None,
    ) -> Prediction: ...
    @overload
    def predict_set(
        self,
        predictor: str,
        x: NDArray[Any],
        *,
        member: int | None = None,
        cases: Cases = None,
        groups: Any = None,
        alpha: float | None = None,
    ) -> Any: ...

    def predict_set(
        self,
        predictor: str,
        x: Any,
        *,
        member: int | None = None,
        cases: Cases = None,
        groups: Any = None,
        alpha: float | None = None,
    ) -> Prediction | Predictions:
        """The set for one input, if x is flat, or for each row of x, if it is deeper; an image of one is flattened.

        ``predictor`` is an id, or the name of a deployment; the answer says which predictor answered for all rows.
        Each row is served by a member drawn for it, or by ``member``, which replays a set for an audit.
        ``cases`` names the case of all rows, or of each: its outcome counts once, and it has the same member again.
        ``groups`` says the group of each row, or of the one input, where groups have thresholds of their own (a list
        where columns cross); a data frame that has their columns needs none.
        ``alpha`` is needed where the promise is for all of them at once: one for all inputs.
        """
        return predict(self._connection, predictor, x, member, cases, groups, alpha)

    def usage(self) -> Usage:
        """What the key's tenant has of everything that is limited, and the limits."""
        return self._connection.ask(Usage, "GET", "/usage")

    def health(self) -> Ready:
        """Whether the server is ready, and which of its database, broker and artifact store answer."""
        return self._connection.ask(Ready, "GET", "/readyz", again=False, accepted=BUSY)
