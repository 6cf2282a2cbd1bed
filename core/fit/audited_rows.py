"""The rows of an audit: read and chosen as the fit did."""

from typing import Any

import torch
from numpy.typing import ArrayLike

from certiset.core.certificate import Certificate, Check
from certiset.core.certificate.shift import TARGET, WEIGHTS
from certiset.core.data.arrays import CheckedData, check_data
from certiset.core.data.frame import as_frame
from certiset.core.fit.options import FitOptions
from certiset.core.fit.roles import Given, read_rows
from certiset.core.fit.target_rows import TargetRows
from certiset.core.fit.used_rows import used_rows
from certiset.core.models import Model


def unreadable_role(certificate: Certificate, target: Any = None) -> Check | None:
    """What was given in Python and is in no file, or is in another file than that of the data."""
    given, shift = "an array that was given in Python", certificate.shift
    if certificate.data is not None and certificate.data.clusters and certificate.data.cluster_column is None:
        return Check("clusters", False, "a column that can be read again", given)
    if certificate.groups is not None and (certificate.options or {}).get("groups") is None:
        return Check("groups", False, "a column that can be read again", given)
    if shift is not None and shift.kind == WEIGHTS and shift.column is None:
        return Check("weights", False, "a column that can be read again", given)
    if shift is not None and shift.kind == TARGET and target is None:
        return Check("target inputs", False, "the inputs that weights were estimated from", "none")
    return None


def audited_rows(
    certificate: Certificate, model: Model, x: Any, y: ArrayLike, target: Any, device: str
) -> tuple[CheckedData, TargetRows | None]:
    """As the fit read and chose them; certificates of format 1 have no options, and their data no clusters."""
    frame = as_frame(x)
    if certificate.options is None:
        return check_data(model, frame.inputs(None, ())[0], y, allow_missing_classes=True), None
    options = FitOptions.read(certificate.options)
    rows = read_rows(model, frame, y, options, Given.of({}))
    estimated = certificate.shift is not None and certificate.shift.kind == TARGET
    return used_rows(model, rows, options, target if estimated else None, torch.device(device))
