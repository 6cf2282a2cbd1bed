"""Names of a package that are loaded on first use, so that a part of it can be imported without all that it needs."""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from certiset.extras import explaining


def lazy_names(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """A module's ``__getattr__``: ``homes`` says in which module of the package each name is defined."""

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        with explaining(f"{package}.{name}"):
            found = getattr(import_module(f"{package}.{homes[name]}"), name)
        setattr(sys.modules[package], name, found)
        return found

    return load
