"""Names that stand for predictors."""

from collections.abc import Iterator
from typing import Any

from certiset.core.deployment_resources import Deployment, DeploymentEvent, DeploymentVersion
from certiset.service.client.collection import Collection
from certiset.service.client.connection import given
from certiset.service.client.events import resumed

_PATIENCE = 60.0


class Deployments(Collection[Deployment]):
    path = "/deployments"
    resource = Deployment

    def set(
        self,
        name: str,
        predictor: str,
        *,
        recalibrate: dict[str, Any] | None = None,
        spend: dict[str, Any] | str | None = None,
        version: int | None = None,
    ) -> Deployment:
        """Makes the name stand for a predictor.

        ``recalibrate`` is such as ``{"every": {"rows": 500}, "on_contradiction": True}``, ``spend`` such as
        ``{"total": 0.05, "over": 20}``. ``version`` is the one that you have seen: if it is another by now, an error.
        """
        body = given({"predictor": predictor, "recalibrate": recalibrate, "spend": spend})
        return self._connection.ask(Deployment, "PUT", self._at(name), json=body, headers=_seen(version))

    def roll_back(self, name: str, to: int | None = None, *, version: int | None = None) -> Deployment:
        """Goes back to the predictor before, or to that of the version ``to``."""
        body = given({"version": to})
        at = self._at(name, "/rollback")
        return self._connection.ask(Deployment, "POST", at, json=body, headers=_seen(version), again=False)

    def delete(self, name: str) -> None:
        """The name stands for nothing any more; predictors and history stay."""
        super().delete(name)

    def history(self, name: str) -> Iterator[DeploymentVersion]:
        """What the name stood for when, newest first."""
        return self._connection.pages(DeploymentVersion, self._at(name, "/history"))

    def events(self, name: str, after: int = 0, reconnect_timeout: float = _PATIENCE) -> Iterator[DeploymentEvent]:
        """What happens to it, from the event after that number on, and without end."""
        for _, _, data in resumed(self._connection, self._at(name, "/events"), reconnect_timeout, after):
            yield DeploymentEvent.model_validate_json(data)


def _seen(version: int | None) -> dict[str, str]:
    return {} if version is None else {"If-Match": f'"{version}"'}
