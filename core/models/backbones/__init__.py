"""Backbones, one per file, found by the manifest's ``backbone.kind``."""

from collections.abc import Mapping
from typing import Any

from certiset.core.models.backbones.base import Backbone, BackboneSpec
from certiset.core.models.fields import choice
from certiset.core.registry import Registry

__all__ = ["BACKBONES", "Backbone", "BackboneSpec", "parse_backbone"]

BACKBONES: Registry[type[BackboneSpec]] = Registry("backbone", __name__, BackboneSpec)


def parse_backbone(fields: Mapping[str, Any]) -> BackboneSpec:
    kind = fields.get("kind")
    stored = [name for name in BACKBONES if not BACKBONES[name].is_in_process]
    # Models in memory are of a kind, too, which says itself why no manifest can name it.
    allowed = [kind] if isinstance(kind, str) and kind in set(BACKBONES) else stored
    return BACKBONES[choice("backbone.kind", kind, allowed)].parse(fields)
