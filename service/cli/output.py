"""How commands print records: lines and fields for people, JSON for programs."""

import argparse
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class View(Generic[T]):
    """How records of one kind are printed; ``--json`` prints them as JSON instead."""

    plural: str
    line: Callable[[T], str]
    """one record in a list"""
    to_json: Callable[[T], Any]
    text: Callable[[T], str] | None = None
    """one record by itself; by default its fields, one per line"""

    def print_list(self, records: Iterable[T], options: argparse.Namespace, none: str | None = None) -> int:
        """``none`` is what to print if there are none."""
        found = list(records)
        if options.json:
            print_json([self.to_json(record) for record in found])
        else:
            lines = [self.line(record).rstrip() for record in found]
            print("\n".join(lines) or none or f"There are no {self.plural}.")
        return 0

    def print_line(self, record: T, options: argparse.Namespace) -> int:
        print_json(self.to_json(record)) if options.json else print(self.line(record).rstrip())
        return 0

    def print_one(self, record: T, options: argparse.Namespace) -> int:
        if options.json:
            print_json(self.to_json(record))
        else:
            print(fields_text(self.to_json(record)) if self.text is None else self.text(record))
        return 0


def print_json(content: Any) -> None:
    print(json.dumps(content, indent=2))


def fields_text(content: Mapping[str, Any]) -> str:
    """One field per line; those without a value are left out."""
    width = max(len(name) for name in content)
    return "\n".join(
        f"{name:<{width}}  {json.dumps(value) if isinstance(value, dict | list | tuple) else value}"
        for name, value in content.items()
        if value is not None
    )
