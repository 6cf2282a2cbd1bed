"""The members of a predictor as bytes and JSON, and back: what is read is held against the certificate."""

import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load as load_tensors
from safetensors.torch import save as save_tensors
from torch import Tensor

from certiset.core.certificate import Certificate
from certiset.core.errors import CertisetError, DamagedFileError, UnavailableError
from certiset.core.fit.scorer import Scorer
from certiset.core.graphs import GraphOpener
from certiset.core.models import Model
from certiset.core.posterior.network import ScaleNetwork
from certiset.core.scores import make_score

TENSORS = "predictor.safetensors"
DESCRIPTION = "predictor.json"


@dataclass(frozen=True)
class Members:
    """What a predictor consists of, beside its certificate."""

    scorer: Scorer
    theta: Tensor
    """(members, d), on the host"""
    tau: Tensor
    """(members,), on the host"""

    def to_bytes(self) -> bytes:
        """The model's weights and the members, as a safetensors file; equal fits give equal bytes."""
        tensors = {f"model.{name}": value.contiguous() for name, value in self.scorer.model.tensors().items()}
        members = {"members.theta": self.theta.contiguous(), "members.tau": self.tau.contiguous()}
        return save_tensors(tensors | members)

    def description(self) -> dict[str, Any]:
        """How the bytes are to be read."""
        return {
            "format": 1,
            "manifest": self.scorer.model.manifest.to_json(),
            "scoring": scoring_description(self.scorer),
        }

    @property
    def sha256(self) -> str:
        return members_sha256(self.theta, self.tau, scoring_description(self.scorer))


def read_members(
    content: bytes,
    description: Mapping[str, Any],
    certificate: Certificate,
    *,
    source: str,
    graphs: GraphOpener | None = None,
) -> Members:
    """The members that the certificate was issued for; ``source`` is what an error calls the place they came from.

    A foreign graph runs in a process of ``graphs``, or in this one if there are none.
    """
    try:
        tensors = load_tensors(content)
    except SafetensorError as error:
        raise DamagedFileError(f"{source} is damaged: {error}.") from None
    try:
        weights = {k.removeprefix("model."): v for k, v in tensors.items() if k.startswith("model.")}
        model = Model.from_manifest(description["manifest"], weights, graphs=graphs)
        scorer = _scorer(model, description["scoring"])
        theta, tau = tensors["members.theta"], tensors["members.tau"]
    except KeyError as error:
        raise DamagedFileError(f"{source} lacks {error}.") from None
    except UnavailableError:
        raise
    except (CertisetError, TypeError, AttributeError) as error:
        raise DamagedFileError(f"{source} is damaged: {error}") from None
    provenance = certificate.provenance
    for what, found, issued in (
        ("members", members_sha256(theta, tau, description["scoring"]), provenance.members_sha256),
        ("model", model.sha256, provenance.model_sha256),
        ("thresholds", tau.double().tolist(), [member.tau for member in certificate.members]),
        ("certificate", certificate.id, certificate.digest_id),
    ):
        if found != issued:
            raise DamagedFileError(f"{source} does not hold the {what} that the certificate was issued for.")
    return Members(scorer, theta, tau)


def save(members: Members, certificate: Certificate, folder: str | Path) -> None:
    """Writes one safetensors file and one JSON file; each appears whole or not at all."""
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    description = {**members.description(), "certificate": certificate.to_json()}
    _write(target / TENSORS, members.to_bytes())
    _write(target / DESCRIPTION, json.dumps(description, indent=1, allow_nan=False).encode())


def read_folder(folder: str | Path) -> tuple[Members, Certificate]:
    """What `save` wrote. A changed or truncated file is an error that names it."""
    source = Path(folder)
    description = _read_description(source / DESCRIPTION)
    try:
        content = (source / TENSORS).read_bytes()
    except OSError as error:
        raise DamagedFileError(f"{source / TENSORS} cannot be read: {error.strerror}.") from None
    try:
        certificate = Certificate.from_json(description["certificate"])
    except (KeyError, CertisetError) as error:
        raise DamagedFileError(f"{source / DESCRIPTION} is damaged: {error}") from None
    named = f"{source / TENSORS} with {DESCRIPTION}"
    return read_members(content, description, certificate, source=named), certificate


def scoring_description(scorer: Scorer) -> dict[str, Any]:
    """How theta and tau are to be read: without it the same members would give other sets."""
    return {
        "score": scorer.score.to_json(),
        "tunes_head": scorer.tunes_head,
        "scale_inputs": scorer.scale.inputs if scorer.scale is not None else None,
    }


def _scorer(model: Model, described: Any) -> Scorer:
    inputs = described["scale_inputs"]
    scale = ScaleNetwork(inputs) if inputs is not None else None
    return Scorer(model, make_score(described["score"]), tunes_head=described["tunes_head"], scale=scale)


def members_sha256(theta: Tensor, tau: Tensor, scoring: dict[str, Any]) -> str:
    digest = hashlib.sha256(json.dumps(scoring, sort_keys=True).encode())
    for tensor in (theta, tau):
        digest.update(f"{tensor.dtype}{tuple(tensor.shape)}".encode())
        digest.update(tensor.contiguous().numpy().tobytes())
    return digest.hexdigest()


def _read_description(file: Path) -> dict[str, Any]:
    try:
        content = json.loads(file.read_text())
    except OSError as error:
        raise DamagedFileError(f"{file} cannot be read: {error.strerror}.") from None
    except (ValueError, RecursionError) as error:
        raise DamagedFileError(f"{file} is damaged: {error}.") from None
    if not isinstance(content, dict) or content.get("format") != 1:
        raise DamagedFileError(f"{file} is not the description of a predictor in format 1.")
    return content


def _write(file: Path, content: bytes) -> None:
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        Path(name).replace(file)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
