"""A saved predictor read back, and held against what it said when it was certified."""

from pathlib import Path

import torch

from certiset.core.fit.canaries import check_canaries
from certiset.core.fit.predictor import Predictor, make_predictor
from certiset.core.fit.serialization import read_folder


def load(folder: str | Path, device: str | torch.device = "cpu") -> Predictor:
    """The data are not needed. A changed or truncated file is an error that names it.

    So is a predictor that computes other numbers on this machine than those that were certified.
    """
    members, certificate = read_folder(folder)
    return check_canaries(make_predictor(members, certificate, device))
