"""The last linear layers of a torch module, with one activation between them, found and held against the module."""

import copy
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from certiset.core.posterior.network import ACTIVATIONS

_MOST_PARAMETERS = 100_000
"""that layers in front of the last may add: each stored member has all of them"""
_PLACES = 1e-4
_ACTIVATIONS: dict[type[nn.Module], str] = {nn.ReLU: "relu", nn.Sigmoid: "sigmoid", nn.Tanh: "tanh"}
_IDLE = (nn.Dropout, nn.Identity)
"""layers that do nothing once a module is trained"""
_NORMALISING = (nn.Softmax, nn.LogSoftmax)
"""at the end of a classifier: what stands before are logits, which mean the same"""


@dataclass(frozen=True)
class LinearLayers:
    backbone: nn.Module | None
    """what comes before; None if that is the input itself"""
    layers: list[nn.Linear]
    activation: str

    @property
    def widths(self) -> list[int]:
        return [self.layers[0].in_features, *(layer.out_features for layer in self.layers)]

    @torch.no_grad()
    def features(self, x: Tensor) -> Tensor:
        found: Tensor = x if self.backbone is None else self.backbone(x.to(self.layers[0].weight.dtype))
        return found.flatten(1)

    @torch.no_grad()
    def outputs(self, features: Tensor) -> Tensor:
        hidden = features.to(self.layers[0].weight.dtype)
        for place, layer in enumerate(self.layers):
            hidden = layer(hidden)
            hidden = ACTIVATIONS[self.activation](hidden) if place + 1 < len(self.layers) else hidden
        return hidden


def last_layers(module: nn.Module, name: str | None, rows: Tensor) -> LinearLayers | None:
    """None where there is no last linear layer, or where what comes before it does not give the module's outputs."""
    found = (
        _of_sequence(list(_flat(module))) if name is None and isinstance(module, nn.Sequential | nn.Linear) else None
    )
    found = _of_module(module, name) if found is None else found
    return found if found is not None and _agrees(module, found, rows) else None


def _flat(module: nn.Module) -> Iterator[nn.Module]:
    if not isinstance(module, nn.Sequential):
        yield module
        return
    for child in module:
        yield from _flat(child)


def _of_sequence(layers: list[nn.Module]) -> LinearLayers | None:
    layers = [layer for layer in layers if not isinstance(layer, _IDLE)]
    if layers and isinstance(layers[-1], _NORMALISING):
        layers = layers[:-1]
    if not layers or not isinstance(layers[-1], nn.Linear):
        return None
    head, activation, rest = [layers[-1]], None, layers[:-1]
    while len(rest) >= 2 and isinstance(rest[-2], nn.Linear) and type(rest[-1]) in _ACTIVATIONS:
        word, layer = _ACTIVATIONS[type(rest[-1])], rest[-2]
        if activation not in (None, word) or sum(_size(entry) for entry in (layer, *head[:-1])) > _MOST_PARAMETERS:
            break
        head, activation, rest = [layer, *head], word, rest[:-2]
    before = [layer for layer in rest if not isinstance(layer, nn.Flatten)]
    backbone = nn.Sequential(*rest) if before else None
    return LinearLayers(backbone, head, activation or "relu")


def _of_module(module: nn.Module, name: str | None) -> LinearLayers | None:
    """The last linear layer that was registered, or the one of that name, and the module without it."""
    linear = {key: layer for key, layer in module.named_modules() if isinstance(layer, nn.Linear)}
    chosen = name if name is not None else next(reversed(linear), None)
    if chosen not in linear or not chosen:
        return None
    backbone = copy.deepcopy(module)
    backbone.set_submodule(chosen, nn.Identity())
    return LinearLayers(backbone, [linear[chosen]], "relu")


@torch.no_grad()
def _agrees(module: nn.Module, found: LinearLayers, rows: Tensor) -> bool:
    """Whether both say the same, up to rounding and to what softmax does not see."""
    given = rows.to(found.layers[0].weight.dtype)
    try:
        own, said = module(given).flatten(1), found.outputs(found.features(given))
    except (RuntimeError, IndexError):
        return False
    if own.shape != said.shape:
        return False
    size = float(own.abs().max().clamp(min=1e-30))
    if bool(torch.all((own - said).abs() <= _PLACES * size)):
        return True
    shares = torch.softmax(said, dim=1)
    return any(bool(torch.all((own - other).abs() <= _PLACES)) for other in (shares, shares.log()))


def _size(layer: nn.Module) -> int:
    return sum(value.numel() for value in layer.parameters())
