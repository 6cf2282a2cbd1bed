"""All kinds that installed packages bring, loaded at start: a broken one stops a process before it serves anybody."""

from importlib.metadata import entry_points

from certiset.core import sandbox
from certiset.core.confinement import Confinement

GROUPS = ("certiset.scores", "certiset.sets", "certiset.formats")


def load_kinds() -> None:
    """Raises a `SettingsError` that names the package and the kind that cannot be used."""
    from certiset.core.data.formats import suffixes  # noqa: PLC0415 (scores load PyTorch, which a worker must not)
    from certiset.core.scores import SCORES  # noqa: PLC0415
    from certiset.core.sets import SET_KINDS, set_kind_of_code  # noqa: PLC0415

    for registry in (SCORES, SET_KINDS):
        len(registry)
    set_kind_of_code(0)
    suffixes()


def check_kinds() -> None:
    """The same in a process of its own, for a worker, which must stay without PyTorch; quick if there are none."""
    if any(entry_points(group=group) for group in GROUPS):
        sandbox.call(f"{__name__}:load_kinds", {}, confinement=Confinement(), seconds=120.0)
