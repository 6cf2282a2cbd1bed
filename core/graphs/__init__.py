"""Strangers' computation graphs, which are programs: they run in confined processes, and never beside our own code."""

from certiset.core.graphs.confined_graph import ConfinedGraph, GraphBlockedError, GraphDiedError
from certiset.core.graphs.graph_host import GraphHost, GraphLimits, OwnedGraphs
from certiset.core.graphs.row_proof.verdict import ASSUMED, PROVED, RowProof, RowsWord
from certiset.core.graphs.session import Graph, GraphOpener, GraphSession

__all__ = [
    "ASSUMED",
    "PROVED",
    "ConfinedGraph",
    "Graph",
    "GraphBlockedError",
    "GraphDiedError",
    "GraphHost",
    "GraphLimits",
    "GraphOpener",
    "GraphSession",
    "OwnedGraphs",
    "RowProof",
    "RowsWord",
]
