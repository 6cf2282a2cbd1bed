"""Events of deployments that somebody watches."""

from collections import deque
from collections.abc import Sequence

from anyio.to_thread import run_sync

from certiset.core.deployment_resources import DeploymentEvent
from certiset.core.errors import NotFoundError
from certiset.core.jobs.deployment_views import event_resource
from certiset.core.store import Store
from certiset.core.store.deployment_records import DeploymentEventRecord
from certiset.core.store.deployments import KEPT
from certiset.service.http.feeds import Feed, Feeds


class DeploymentFeed(Feed):
    """All events of one deployment so far."""

    poll_seconds = 0.5

    def __init__(self, store: Store, tenant: str, name: str) -> None:
        self._store, self._tenant, self._name = store, tenant, name
        self._events: deque[DeploymentEvent] = deque(maxlen=KEPT)
        super().__init__()

    def after(self, number: int) -> Sequence[DeploymentEvent]:
        """The events after this one."""
        if not self._events or self._events[-1].number <= number:
            return []
        return [event for event in self._events if event.number > number]

    async def _look(self) -> None:
        def look(last: int) -> Sequence[DeploymentEventRecord]:
            with self._store.reading() as work:
                return work.deployments.events_after(self._tenant, self._name, last)

        while True:
            found = await run_sync(look, self._events[-1].number if self._events else 0)
            self._events.extend(map(event_resource, found))
            if not self._events:
                raise NotFoundError(f"There is no deployment {self._name}.")
            if not found:
                break
            self._tell()


class DeploymentFeeds(Feeds[DeploymentFeed]):
    def __init__(self, store: Store) -> None:
        super().__init__(lambda tenant, name: DeploymentFeed(store, tenant, name))
