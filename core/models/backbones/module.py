"""A torch module as a backbone; its weights come from the weights file."""

import copy
from collections.abc import Mapping

import torch
from torch import Tensor, nn

from certiset.core.errors import ModelError
from certiset.core.graphs import PROVED


class ModuleBackbone:
    row_proof = PROVED
    """by construction: in evaluation mode, batch normalisation uses the means that it came with"""

    def __init__(self, module: nn.Module, weights: Mapping[str, Tensor]) -> None:
        try:
            module.load_state_dict(dict(weights))
        except RuntimeError as error:
            problem = " ".join(str(error).split())
            raise ModelError(f"The backbone's weights do not fit: {problem[:400]}", field="weights") from None
        self.module = module.eval().requires_grad_(False)
        self._copies: dict[tuple[torch.device, torch.dtype], nn.Module] = {}

    @torch.no_grad()
    def features(self, x: Tensor) -> Tensor:
        place = (x.device, x.dtype)
        if place not in self._copies:
            # The module as given stays as it is: the certificate holds the hash of its weights.
            self._copies[place] = copy.deepcopy(self.module).to(x.device, x.dtype)
        found: Tensor = self._copies[place](x)
        return found.flatten(1)

    def tensors(self) -> dict[str, Tensor]:
        return {f"backbone.{name}": value.cpu() for name, value in self.module.state_dict().items()}
