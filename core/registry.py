"""Things that come in kinds, found by name: certiset's own, and those of packages that are installed beside it.

Our own kinds are the classes or objects with a ``kind`` in the modules of one package: adding a file adds a kind. A
package of yours brings a kind by an entry point, named like the kind. In its ``pyproject.toml``:

    [project.entry-points."certiset.scores"]
    margin = "my_package.margin:Margin"

API, worker and fitting processes read the same entry points, so that a kind is known to all of them or to none.
"""

import pkgutil
from collections.abc import Iterator, Mapping
from functools import cached_property
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from types import ModuleType
from typing import Any, Generic, TypeVar

from certiset.core.errors import OptionError, SettingsError

K = TypeVar("K")


class Registry(Generic[K]):
    """Kinds by name, in alphabetical order; all are loaded when the registry is first used."""

    def __init__(self, what: str, package: str, base: type, group: str | None = None) -> None:
        """Kinds are subclasses or instances of ``base``; ``group`` is the entry-point group of foreign ones."""
        self.what = what
        """what an error calls a kind, such as "score" """
        self._package, self._base, self._group = package, base, group

    @cached_property
    def own(self) -> Mapping[str, K]:
        """Those of the package itself."""
        found: dict[str, K] = {}
        package = import_module(self._package)
        for module in sorted(entry.name for entry in pkgutil.iter_modules(package.__path__)):
            found |= self._kinds_in(import_module(f"{self._package}.{module}"))
        return found

    @cached_property
    def kinds(self) -> Mapping[str, K]:
        found = dict(self.own)
        for entry in entry_points(group=self._group) if self._group else ():
            if entry.name in found:
                raise SettingsError(
                    f"The package {_package(entry)} brings a {self.what} named {entry.name!r}, and that name is taken."
                )
            found[entry.name] = self._loaded(entry)
        return dict(sorted(found.items()))

    def __getitem__(self, name: str) -> K:
        return self.kinds[name]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self.kinds

    def __iter__(self) -> Iterator[str]:
        return iter(self.kinds)

    def __len__(self) -> int:
        return len(self.kinds)

    def values(self) -> Iterator[K]:
        return iter(self.kinds.values())

    def get(self, name: Any, *, field: str) -> K:
        """The kind of that name; an unknown one is an `OptionError` about ``field``."""
        if name not in self:
            raise OptionError(f"{field} must be one of {', '.join(self)}, not {name!r}.", field=field)
        return self.kinds[name]

    def _kinds_in(self, module: ModuleType) -> dict[str, K]:
        found = {}
        for value in vars(module).values():
            is_class = isinstance(value, type) and issubclass(value, self._base) and value.__module__ == module.__name__
            if isinstance(value, self._base) or (is_class and isinstance(vars(value).get("kind"), str)):
                found[value.kind] = value
        return found

    def _loaded(self, entry: EntryPoint) -> K:
        where = f"The {self.what} {entry.name!r} of the package {_package(entry)}"
        try:
            found: Any = entry.load()
        except Exception as error:
            raise SettingsError(f"{where} cannot be loaded: {error}.") from error
        is_kind = issubclass(found, self._base) if isinstance(found, type) else isinstance(found, self._base)
        if not is_kind:
            raise SettingsError(f"{where} is not a {self._base.__name__}.")
        if found.kind != entry.name:
            raise SettingsError(f"{where} calls itself {found.kind!r}: its entry point must have that name.")
        return found


def _package(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist is not None else entry.value
