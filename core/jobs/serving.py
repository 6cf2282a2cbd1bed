"""Which members of a predictor are served."""

from certiset.core.certificate import Certificate
from certiset.core.certificate.guarantees import guarantee_of
from certiset.core.errors import ConflictError
from certiset.core.store.records import PredictorRecord
from certiset.core.store.store import Store


def change_serving(store: Store, tenant: str, predictor_id: str, serve: str) -> tuple[PredictorRecord, bool]:
    """The predictor, and whether outcomes contradict its certificate.

    ``best`` serves only the member with the smallest certified size, which needs a promise for each member alone.
    """
    with store.writing() as work:
        record = work.predictors.get(tenant, predictor_id)
        if serve == "best":
            document = work.certificates.get(tenant, record.certificate_id).document
            coverage = Certificate.from_json(document).coverage
            if guarantee_of(coverage).member_alpha(coverage) is None:
                raise ConflictError(
                    "This certificate is for the mean over all members: one alone is not covered by it.", field="serve"
                )
        record = work.predictors.set_serving(tenant, predictor_id, serve)
        work.audit.add("predictor.serve", tenant, "predictor", predictor_id, details={"serve": serve})
        return record, work.outcomes.monitor(tenant, predictor_id).contradicted_at is not None
