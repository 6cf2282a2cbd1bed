"""The processes of strangers' graphs: so many for each owner and in all, the least recently used ended for another."""

import threading
from collections.abc import Callable
from weakref import WeakKeyDictionary

from certiset.core.graphs.confined_graph import ConfinedGraph
from certiset.core.graphs.graph_process import GraphLimits

__all__ = ["GraphHost", "GraphLimits"]


class GraphHost:
    def __init__(
        self,
        limits: GraphLimits | None = None,
        *,
        of_one_owner: int = 2,
        in_all: int = 16,
        died: Callable[[], object] = lambda: None,
    ) -> None:
        """``died`` is told whenever a process has died."""
        self._limits = limits or GraphLimits()
        self._of_one_owner, self._in_all, self._died = of_one_owner, in_all, died
        self._owners: WeakKeyDictionary[ConfinedGraph, str] = WeakKeyDictionary()
        self._lock = threading.Lock()

    def open(self, content: bytes, owner: str = "") -> ConfinedGraph:
        """The graph; its process is started by the first call."""
        graph = ConfinedGraph(content, self._limits, started=self._make_room, died=self._died)
        with self._lock:
            self._owners[graph] = owner
        return graph

    def of(self, owner: str) -> "OwnedGraphs":
        return OwnedGraphs(self, owner)

    def close(self) -> None:
        """Ends all processes, those that are computing included: whoever waits for one is told that it died."""
        with self._lock:
            for graph in list(self._owners):
                graph.kill()

    def _make_room(self, newcomer: ConfinedGraph) -> None:
        """One that is computing is left alone, so that for a moment there may be one more."""
        with self._lock:
            own = self._owners[newcomer]
            running = sorted(
                (graph for graph in self._owners if graph.running and graph is not newcomer),
                key=lambda graph: graph.used,
            )
            others = [graph for graph in running if self._owners[graph] == own]
            for graph in others[: max(0, len(others) + 1 - self._of_one_owner)]:
                if graph.stop():
                    running.remove(graph)
            for graph in running[: max(0, len(running) + 1 - self._in_all)]:
                graph.stop()


class OwnedGraphs:
    """The host as one owner sees it."""

    def __init__(self, host: GraphHost, owner: str) -> None:
        self._host, self._owner = host, owner

    def open(self, content: bytes) -> ConfinedGraph:
        return self._host.open(content, self._owner)
