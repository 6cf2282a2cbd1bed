"""Heads, one per file, found by the manifest's ``head.kind``."""

from collections.abc import Mapping
from typing import Any

from certiset.core.models.fields import choice
from certiset.core.models.heads.base import Head, HeadSpec
from certiset.core.registry import Registry

__all__ = ["HEADS", "Head", "HeadSpec", "parse_head"]

HEADS: Registry[type[HeadSpec]] = Registry("head", __name__, HeadSpec)


def parse_head(fields: Mapping[str, Any], classes: int | None) -> HeadSpec:
    return HEADS[choice("head.kind", fields.get("kind"), HEADS)].parse(fields, classes)
