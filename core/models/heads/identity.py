"""The features already are the outputs; a fit may tune a scale and a shift for each of them."""

from collections.abc import Mapping
from typing import Any, Self

import torch
from torch import Tensor

from certiset.core.models.fields import refuse
from certiset.core.models.heads.base import Head, HeadSpec, parse_activation
from certiset.core.posterior.network import Adapter


class IdentitySpec(HeadSpec):
    kind = "identity"
    has_layers = False

    @classmethod
    def parse(cls, fields: Mapping[str, Any], classes: int | None) -> Self:
        # Widths and an activation have always been accepted here, and mean nothing.
        parse_activation(fields)
        return cls()

    def build(self, features: int, weights: Mapping[str, Tensor], classes: int | None) -> tuple[Head, Tensor]:
        if classes is not None and features != classes:
            refuse("classes", f"With an identity head the {features} features must be the {classes} classes.")
        head = Adapter(features)
        return head, torch.zeros(head.parameters)

    def tensors(self, parameters: Tensor) -> dict[str, Tensor]:
        return {}
