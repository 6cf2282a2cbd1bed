"""From a fitted predictor to what the store keeps of it."""

import json

from certiset.core.certificate import Certificate
from certiset.core.fit import Predictor
from certiset.core.store.artifacts import Artifacts
from certiset.core.store.predictors import FitResult


def fit_result(predictor: Predictor, artifacts: Artifacts, certificate: Certificate | None = None) -> FitResult:
    """Stores the tensors; the certificate may be given with its signature."""
    issued = certificate or predictor.certificate
    content = predictor.stored.to_bytes()
    return FitResult(
        predictor_id=issued.predictor_id,
        certificate_id=issued.id,
        digest=issued.digest,
        alpha=issued.coverage.alpha,
        bound=issued.coverage.bound,
        score=issued.provenance.score,
        members=predictor.members,
        description=predictor.stored.description(),
        artifact=artifacts.put(content),
        document=json.dumps(issued.to_json(), allow_nan=False),
        stored_bytes=len(content),
    )
