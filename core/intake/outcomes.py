"""From a fitted predictor to what the store keeps of it."""

import json

from core.certificate import Certificate
from core.fit import Predictor
from core.fit.saving import description_of, tensors_of
from core.store.artifacts import Artifacts
from core.store.predictors import Outcome


def outcome_of(predictor: Predictor, artifacts: Artifacts, certificate: Certificate | None = None) -> Outcome:
    """Stores the tensors; the certificate may be given with its signature."""
    issued = certificate or predictor.certificate
    return Outcome(
        predictor_id=issued.predictor_id,
        certificate_id=issued.id,
        digest=issued.digest,
        alpha=issued.coverage.alpha,
        bound=issued.coverage.bound,
        score=issued.provenance.score,
        members=predictor.members,
        description=description_of(predictor),
        artifact=artifacts.put(tensors_of(predictor)),
        document=json.dumps(issued.to_json(), allow_nan=False),
    )
