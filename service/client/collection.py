"""What the records of every kind have in common: they are listed, and found by their ids."""

from collections.abc import Iterator
from typing import ClassVar, Generic, TypeVar

from certiset.core.resource_base import Resource
from certiset.service.client.connection import Connection, part

R = TypeVar("R", bound=Resource)


class Collection(Generic[R]):
    path: ClassVar[str]
    resource: type[R]

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def list(self) -> Iterator[R]:
        """All of them, newest first."""
        return self._connection.pages(self.resource, self.path)

    def get(self, id: str) -> R:
        return self._connection.ask(self.resource, "GET", self._at(id))

    def delete(self, id: str) -> None:
        self._connection.send("DELETE", self._at(id), again=False)

    def _rename(self, id: str, name: str) -> R:
        return self._connection.ask(self.resource, "PATCH", self._at(id), json={"name": name})

    def _at(self, id: str, further: str = "") -> str:
        """The path of one, or of something that it has."""
        return f"{self.path}/{part(id)}{further}"
