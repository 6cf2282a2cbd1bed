"""Backbones, one per file, found by the manifest's ``backbone.kind``."""

from collections.abc import Mapping
from typing import Any

from certiset.core.models.backbones.base import Backbone, BackboneSpec
from certiset.core.models.fields import choice
from certiset.core.registry import Registry

__all__ = ["BACKBONES", "Backbone", "BackboneSpec", "parse_backbone"]

BACKBONES: Registry[type[BackboneSpec]] = Registry("backbone", __name__, BackboneSpec)


def parse_backbone(fields: Mapping[str, Any]) -> BackboneSpec:
    return BACKBONES[choice("backbone.kind", fields.get("kind"), BACKBONES)].parse(fields)
