"""The document: what was fitted, certified and noticed becomes a certificate, named by its own content."""

import importlib.metadata
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache

from certiset.core.certificate import Certificate, Provenance
from certiset.core.certificate.canaries import Canaries
from certiset.core.certificate.completion import completed
from certiset.core.certificate.content import FORMAT, Caveat, Data
from certiset.core.certificate.names import ModelFacts, Names
from certiset.core.certificate.shift import Shift
from certiset.core.fit.fitted import Fitted
from certiset.core.fit.options import FitOptions


def issue(
    options: FitOptions,
    fitted: Fitted,
    *,
    members_sha256: str,
    predictor_sha256: str,
    model_sha256: str,
    dataset_sha256: str,
    device: str,
    messages: list[str],
    caveats: list[Caveat],
    data: Data,
    model: ModelFacts,
    names: Names,
    canaries: Canaries | None = None,
    shift: Shift | None = None,
) -> Certificate:
    certificate = Certificate(
        id="",
        predictor_id="",
        issued_at=datetime.now(UTC).isoformat(timespec="seconds"),
        statement="",
        assumptions=[],
        coverage=fitted.coverage,
        members=fitted.members,
        efficiency=fitted.efficiency,
        provenance=Provenance(
            dataset_sha256=dataset_sha256,
            model_sha256=model_sha256,
            members_sha256=members_sha256,
            n_tune=fitted.n_tune,
            n_calibrate=fitted.coverage.n,
            seed=options.seed,
            software=dict(_versions()),
            device=device,
            method=options.method,
            score=fitted.scorer.score.kind,
            messages=messages,
            predictor_sha256=predictor_sha256,
        ),
        signature=None,
        format=FORMAT,
        caveats=[*caveats, *fitted.caveats],
        data=data,
        options={name: value for name, value in options.to_json().items() if name != "device"},
        model=model,
        names=names,
        canaries=canaries,
        selection=fitted.selection,
        shift=shift,
        levels=fitted.levels,
        groups=fitted.groups,
    )
    return completed(certificate)


@cache
def _versions() -> Mapping[str, str]:
    """Read once: to read them takes longer than a small fit."""
    return {name: importlib.metadata.version(name) for name in ("certiset", "numpy", "scipy", "torch")}
