"""Which process of the suite runs which test: tests that share a server or an installation run in one."""

from xdist.scheduler import LoadScopeScheduling

from tests.slow import SLOW, TOGETHER, is_in


def scope_of(nodeid: str) -> str:
    """The tests of a file run in one process, but for slow ones that share nothing: each of those by itself."""
    if is_in(nodeid, SLOW) and not is_in(nodeid, TOGETHER):
        return nodeid
    return nodeid.partition("::")[0]


class SharedScheduling(LoadScopeScheduling):  # type: ignore[misc]  # xdist's classes have no types for mypy
    """Hands out tests by `scope_of`.

    xdist's own groups are an ending of a test's id that pytest 9 no longer lets it write.
    """

    def _split_scope(self, nodeid: str) -> str:
        return scope_of(nodeid)
