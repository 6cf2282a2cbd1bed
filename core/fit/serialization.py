"""The members of a predictor as bytes and JSON, and back: what is read is held against the certificate."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.torch import load as load_tensors
from safetensors.torch import save as save_tensors
from torch import Tensor

from certiset.core.certificate import Certificate
from certiset.core.certificate.stored_thresholds import stated_group_names, stated_thresholds, stated_ties
from certiset.core.digests import members_sha256
from certiset.core.errors import CertisetError, DamagedFileError, UnavailableError
from certiset.core.fit.saved_predictor import (
    DESCRIPTION,
    FORMAT,
    LARGEST_EXPONENT,
    TENSORS,
    metadata_of,
    read_description,
)
from certiset.core.fit.scorer import Scorer
from certiset.core.fit.set_rules import read_rule
from certiset.core.graphs import GraphOpener
from certiset.core.models import Model
from certiset.core.posterior.input_units import InputUnits
from certiset.core.posterior.network import ScaleNetwork
from certiset.core.scores import make_score
from certiset.core.whole_file import written_whole


@dataclass(frozen=True)
class Members:
    """What a predictor consists of, beside its certificate."""

    scorer: Scorer
    theta: Tensor
    """(members, d), on the host"""
    tau: Tensor
    """(members,), on the host; (members, groups) where groups have their own, infinite for those without"""
    tie: Tensor | None = None
    """likewise, in float64: the other half of the thresholds, where ties are broken"""

    def to_bytes(self) -> bytes:
        """The model's weights, the members and how to read them, as a safetensors file; equal fits give equal bytes."""
        tensors = {f"model.{name}": value.contiguous() for name, value in self.scorer.model.tensors().items()}
        members = {"members.theta": self.theta.contiguous(), "members.tau": self.tau.contiguous()}
        if self.tie is not None:
            members["members.tie"] = self.tie.contiguous()
        return save_tensors(tensors | members, metadata_of(self.description()))

    def description(self) -> dict[str, Any]:
        """How the bytes are to be read."""
        return {
            "format": FORMAT,
            "manifest": self.scorer.model.manifest.to_json(),
            "scoring": scoring_description(self.scorer),
        }

    @property
    def sha256(self) -> str:
        return _members_sha256(self.theta, self.tau, scoring_description(self.scorer), self.tie)


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
        scorer = scorer_of(model, description["scoring"])
        theta, tau, tie = tensors["members.theta"], tensors["members.tau"], tensors.get("members.tie")
    except KeyError as error:
        raise DamagedFileError(f"{source} lacks {error}.") from None
    except UnavailableError:
        raise
    except (CertisetError, TypeError, AttributeError) as error:
        raise DamagedFileError(f"{source} is damaged: {error}") from None
    provenance = certificate.provenance
    whole = hashlib.sha256(content).hexdigest()
    for what, found, issued in (
        # Certificates of format 1 do not state the file's own hash.
        ("bytes", whole, provenance.predictor_sha256 or whole),
        ("members", _members_sha256(theta, tau, description["scoring"], tie), provenance.members_sha256),
        ("model", model.sha256, provenance.model_sha256),
        ("groups", _group_names(scorer), stated_group_names(certificate)),
        ("thresholds", _in_targets_unit(tau, scorer.exponent), stated_thresholds(certificate)),
        ("ties", None if tie is None else tie.tolist(), stated_ties(certificate)),
        ("certificate", certificate.id, certificate.digest_id),
    ):
        if found != issued:
            raise DamagedFileError(f"{source} does not hold the {what} that the certificate was issued for.")
    if not scorer.rule.ties.accepts(tuple(tau.shape), tie):
        raise DamagedFileError(f"{source} does not hold the thresholds that its way to break ties needs.")
    return Members(scorer, theta, tau, tie)


def save(members: Members, certificate: Certificate, folder: str | Path) -> None:
    """Writes one safetensors file and one JSON file; each appears whole or not at all."""
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    description = {**members.description(), "certificate": certificate.to_json()}
    described = json.dumps(description, indent=1, allow_nan=False).encode()
    for name, content in {TENSORS: members.to_bytes(), DESCRIPTION: described}.items():
        with written_whole(target / name) as stream:
            stream.write(content)


def read_folder(folder: str | Path) -> tuple[Members, Certificate]:
    """What `save` wrote. A changed or truncated file is an error that names it."""
    source = Path(folder)
    description = read_description(source / DESCRIPTION)
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
    units = None if scorer.scale is None else scorer.scale.units
    return {
        "score": scorer.score.to_json(),
        "tunes_head": scorer.tunes_head,
        "scale_inputs": scorer.scale.inputs if scorer.scale is not None else None,
        # Absent where inputs are taken as they are, as in every predictor from before there were such units.
        **({"scale_units": units.to_json()} if units is not None else {}),
        # Absent where it is 0, as in every predictor from before there was a unit.
        **({"exponent": scorer.exponent} if scorer.exponent else {}),
        **scorer.rule.to_json(),
    }


def scorer_of(model: Model, described: Any) -> Scorer:
    inputs = described["scale_inputs"]
    units = described.get("scale_units")
    scale = None
    if inputs is not None:
        scale = ScaleNetwork(inputs, units=None if units is None else InputUnits.from_json(units, inputs))
    exponent = described.get("exponent", 0)
    if type(exponent) is not int or abs(exponent) > LARGEST_EXPONENT:
        raise DamagedFileError("the exponent of its unit is invalid.")
    score = make_score(described["score"])
    rule = read_rule(described, score)
    return Scorer(model, score, tunes_head=described["tunes_head"], scale=scale, exponent=exponent, rule=rule)


def _in_targets_unit(tau: Tensor, exponent: int) -> list[Any]:
    with np.errstate(over="ignore"):
        return list(np.ldexp(tau.double().numpy(), exponent).tolist())


def _group_names(scorer: Scorer) -> list[list[str]] | None:
    groups = scorer.rule.groups
    return None if groups is None else [list(name) for name in groups.all_names]


def _members_sha256(theta: Tensor, tau: Tensor, scoring: dict[str, Any], tie: Tensor | None) -> str:
    return members_sha256(theta.numpy(), tau.numpy(), scoring, None if tie is None else tie.numpy())
