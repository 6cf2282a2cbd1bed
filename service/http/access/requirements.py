"""What a route asks of its callers: a key with some scope, and a body that is not too large. Each route says it itself.

    @router.post("/datasets")
    @requires("write", action="dataset.create", largest_body=upload_body)
    async def upload_dataset(...): ...

`AccessTable` gathers what the routes of an app say. Gate, body limit, OpenAPI and the reference all read it there.
"""

import re
from collections.abc import Callable, Iterable, Set
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, TypeVar

from starlette.routing import BaseRoute, Mount, Route

from certiset.core.settings import Settings

Scope: TypeAlias = Literal["read", "write", "admin", "operator"]
E = TypeVar("E")

_DECLARATION = "__requirements__"
_ANY = "*"
"""any method"""
_FORM_MARGIN = 2**16
"""what a multipart form adds to its file"""


def small_body(settings: Settings) -> int:
    """What may be parsed on the event loop."""
    return 2**16


def outcomes_body(settings: Settings) -> int:
    """Thousands of truths, each with the id that carries its set."""
    return 2**20


def few_rows_body(settings: Settings) -> int:
    """Rows to look at: hundreds, or a picture."""
    return 2**20


def upload_body(settings: Settings) -> int:
    return settings.max_upload_bytes + _FORM_MARGIN


def prediction_body(settings: Settings) -> int:
    return settings.max_predict_bytes


@dataclass(frozen=True)
class Requirements:
    scope: Scope | None
    """None: open to everybody"""
    largest_body: Callable[[Settings], int] = small_body
    """in bytes"""
    or_scope: Scope | None = None
    """a key with this one will do as well"""
    action: str | None = None
    """what the audit log calls it, such as dataset.create; None: by its scope"""
    to_disk: bool = False
    """whether the body streams to disk, and is not kept in memory"""
    in_batches: bool = False
    """whether large bodies are for the process for large requests"""

    @property
    def changes(self) -> bool:
        """Whether a call may change something, unless its method says otherwise."""
        return self.scope not in (None, "read")


_PUBLIC = Requirements(None)
_READ, _WRITE = Requirements("read"), Requirements("write")


def requires(
    scope: Scope,
    *,
    or_scope: Scope | None = None,
    action: str | None = None,
    largest_body: Callable[[Settings], int] = small_body,
    to_disk: bool = False,
    in_batches: bool = False,
) -> Callable[[E], E]:
    """Declares the scope that a key must have for this endpoint, its action, and the largest body that it takes."""
    return _declare(Requirements(scope, largest_body, or_scope, action, to_disk, in_batches))


def public(endpoint: E) -> E:
    """Declares that this endpoint, or mounted app, is open to everybody."""
    return _declare(_PUBLIC)(endpoint)


def _declare(requirements: Requirements) -> Callable[[E], E]:
    def declared(endpoint: E) -> E:
        setattr(endpoint, _DECLARATION, requirements)
        return endpoint

    return declared


class AccessTable:
    """The requirements of every route of an app. A route that declares none is an error here, when the app is made."""

    def __init__(self, routes: Iterable[BaseRoute]) -> None:
        self._routes = [_read(route) for route in routes]
        self._declared: dict[tuple[str, str], Requirements] = {}
        for route in self._routes:
            for method in route.methods:
                self._declared.setdefault((method, route.path), route.requirements)
        self._at_fixed_path = {route.path: self._at(route.path) for route in self._routes if route.is_fixed}
        """found beforehand, since the busiest routes have no parameters"""

    def of(self, method: str, path: str) -> Requirements:
        """What a request must bring. A path or method that nobody serves asks for a key, and so tells nothing."""
        at_path = self._at_fixed_path.get(path)
        if at_path is None:
            at_path = self._at(path)
        found = at_path.get(method) or at_path.get(_ANY)
        if found is not None:
            return found
        if at_path and all(requirements.scope is None for requirements in at_path.values()):
            return _PUBLIC
        return _READ if method in ("GET", "HEAD") else _WRITE

    def declared(self, method: str, path: str) -> Requirements:
        """What the route with this path, as OpenAPI writes it, declares."""
        return self._declared[method, path]

    def methods(self, path: str) -> list[str]:
        """Those that are served at a path."""
        return sorted({*self._at(path)} - {_ANY})

    def id_in(self, path: str) -> str | None:
        """The id of a resource in a path, whether or not it was routed."""
        for route in self._routes:
            found = route.pattern.match(path)
            if found:
                return found.groupdict().get("id") or found.groupdict().get("name")
        return None

    def is_fixed(self, path: str) -> bool:
        """Whether a route without parameters has this path."""
        return path in self._at_fixed_path

    def _at(self, path: str) -> dict[str, Requirements]:
        """By method: several routes may match a path, and the first that has the method serves it."""
        found: dict[str, Requirements] = {}
        for route in self._routes:
            if route.pattern.match(path):
                for method in route.methods:
                    found.setdefault(method, route.requirements)
                if route.is_mount:
                    # A mounted app is asked whatever the method is, so that nothing behind it is reached.
                    found[_ANY] = route.requirements
                    break
        return found


@dataclass(frozen=True)
class _DeclaredRoute:
    path: str
    """with the names of its parameters in braces"""
    pattern: re.Pattern[str]
    methods: Set[str]
    requirements: Requirements
    is_fixed: bool
    """has no parameters"""
    is_mount: bool


def _read(route: BaseRoute) -> _DeclaredRoute:
    if isinstance(route, Mount):
        endpoint, methods = route.app, {"GET", "HEAD"}
    elif isinstance(route, Route):
        endpoint, methods = route.endpoint, route.methods or set()
    else:
        raise TypeError(f"{type(route).__name__} is not a route whose requirements are known.")
    requirements: Any = getattr(endpoint, _DECLARATION, None)
    if not isinstance(requirements, Requirements):
        raise TypeError(f"The route {route.path} declares no scope: put @requires or @public on its endpoint.")
    is_mount, is_fixed = isinstance(route, Mount), not route.param_convertors
    return _DeclaredRoute(route.path_format, route.path_regex, methods, requirements, is_fixed, is_mount)
