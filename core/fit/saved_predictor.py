"""The two files of a saved predictor, read and held against its certificate without PyTorch.

The tensors' file holds the model's weights and the members; ``predictor.json`` says how they are to be read, and has
the certificate.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open

from certiset.core.certificate import Certificate, Check
from certiset.core.certificate.json_text import parse
from certiset.core.certificate.stored_thresholds import stated_group_names, stated_thresholds, stated_ties
from certiset.core.digests import members_sha256, model_sha256
from certiset.core.errors import DamagedFileError
from certiset.core.fit.group_rule import read_group_rule

TENSORS = "predictor.safetensors"
DESCRIPTION = "predictor.json"
FORMAT = 1
LARGEST_EXPONENT = 2000
"""of the unit 2^exponent that thresholds are stored in; far beyond what floats can have"""
_FIELDS = {"format", "manifest", "scoring", "certificate"}
_LARGEST_DESCRIPTION = 64 * 2**20
_MODEL = "model."
_DESCRIPTION_KEY = "certiset"


def read_description(file: Path) -> dict[str, Any]:
    """What ``predictor.json`` says: these fields and no others."""
    try:
        if file.stat().st_size > _LARGEST_DESCRIPTION:
            raise DamagedFileError(f"{file} is larger than {_LARGEST_DESCRIPTION // 2**20} MiB.")
        text = file.read_bytes()
    except OSError as error:
        raise DamagedFileError(f"{file} cannot be read: {error.strerror}.") from None
    try:
        content = parse(text, "its text")
    except DamagedFileError as error:
        raise DamagedFileError(f"{file} is damaged: {error}") from None
    if not is_description(content):
        raise DamagedFileError(f"{file} is not the description of a predictor in format {FORMAT}.")
    return dict(content)


def is_description(content: Any) -> bool:
    """Whether this is what ``predictor.json`` holds, and nothing that was put around a certificate."""
    return (
        isinstance(content, Mapping)
        and set(content) == _FIELDS
        and content["format"] == FORMAT
        and type(content["format"]) is int
        and all(isinstance(content[name], Mapping) for name in ("manifest", "scoring", "certificate"))
    )


def metadata_of(description: Mapping[str, Any]) -> dict[str, str]:
    """The description as the tensors' file carries it, so that it can be read by itself."""
    return {_DESCRIPTION_KEY: json.dumps(description, allow_nan=False)}


def description_in(file: Path) -> dict[str, Any] | None:
    """What the tensors' file says of itself; None for one that was written before files said it."""
    with _opened(file) as tensors:
        text = (tensors.metadata() or {}).get(_DESCRIPTION_KEY)
    if text is None:
        return None
    content = parse(text, f"The description in {file}")
    if not isinstance(content, dict) or set(content) != _FIELDS - {"certificate"}:
        raise DamagedFileError(f"{file} is not the file of a predictor.")
    return content


def file_checks(file: Path, description: Mapping[str, Any], certificate: Certificate) -> list[Check]:
    """Whether this is the file that the certificate was issued for: its bytes, model, members and thresholds."""
    tensors = read_tensors(file)
    theta, tau, tie = tensors["members.theta"], tensors["members.tau"], tensors.get("members.tie")
    weights = {name.removeprefix(_MODEL): value for name, value in tensors.items() if name.startswith(_MODEL)}
    provenance = certificate.provenance
    with file.open("rb") as stream:
        whole = hashlib.file_digest(stream, "sha256").hexdigest()
    exponent = description["scoring"].get("exponent", 0)
    if type(exponent) is not int or abs(exponent) > LARGEST_EXPONENT:
        raise DamagedFileError(f"{file} is damaged: the exponent of its unit is invalid.")
    # Thresholds are stored in units of 2^exponent.
    found = np.ldexp(tau.astype(np.float64), exponent).tolist()
    compared: list[tuple[str, Any, Any]] = [
        ("predictor's file", provenance.predictor_sha256, whole),
        ("members' SHA-256", provenance.members_sha256, members_sha256(theta, tau, description["scoring"], tie)),
        ("model's SHA-256", provenance.model_sha256, model_sha256(description["manifest"], weights)),
        ("thresholds", stated_thresholds(certificate), found),
        ("ties", stated_ties(certificate), None if tie is None else tie.tolist()),
    ]
    names = stated_group_names(certificate)
    described = read_group_rule(description["scoring"].get("groups"))
    if names is not None or described is not None:
        found = None if described is None else [list(name) for name in described.all_names]
        compared.append(("groups", names or [], found))
    return [Check(name, issued == here, issued, here) for name, issued, here in compared if issued is not None]


def read_tensors(file: Path) -> dict[str, NDArray[Any]]:
    """The weights and the members, by name."""
    with _opened(file) as opened:
        try:
            tensors = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118 (no mapping)
        except (SafetensorError, TypeError, ValueError, KeyError) as error:
            raise DamagedFileError(f"{file} is damaged: {error}.") from None
    missing = next((name for name in ("members.theta", "members.tau") if name not in tensors), None)
    if missing is not None:
        raise DamagedFileError(f"{file} lacks {missing!r}.")
    return tensors


def _opened(file: Path) -> Any:
    try:
        return safe_open(file, framework="numpy")
    except OSError as error:
        raise DamagedFileError(f"{file} cannot be read: {error.strerror or error}.") from None
    except SafetensorError as error:
        raise DamagedFileError(f"{file} is damaged: {error}.") from None
