"""Certificates: immutable, signed, and checked on request by their own numbers."""

from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Response

from certiset.core.certificate import Certificate
from certiset.core.certificate.guarantees import GUARANTEES
from certiset.core.certificate.signing import signed_by
from certiset.core.jobs.views import certificate_status
from certiset.core.resources import PublicKey, Verification
from certiset.core.store.records import CertificateRecord
from certiset.service.http.access.requirements import requires
from certiset.service.http.routes.dependencies import TheCaller, TheService
from certiset.service.http.schemas.common import ALWAYS, Cursor, Limit, PathId, QueryId, problems
from certiset.service.http.state import Service

router = APIRouter(tags=["certificates"], responses=ALWAYS)

_ANY_OBJECT: dict[str, Any] = {"type": "object", "additionalProperties": True}
_DOCUMENT: dict[int | str, dict[str, Any]] = {
    200: {"description": "the certificate", "content": {"application/json": {"schema": _ANY_OBJECT}}}
}
_LIST: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "newest first",
        "content": {
            "application/json": {
                "schema": {
                    "type": "object",
                    "required": ["items", "next_cursor"],
                    "properties": {
                        "items": {"type": "array", "items": _ANY_OBJECT},
                        "next_cursor": {"type": ["string", "null"]},
                    },
                }
            }
        },
    }
}
_BOUND_PATTERN = f"^({'|'.join(GUARANTEES)})$"


@router.get("/certificates", response_class=Response, responses={**_LIST, **problems(422)})
@requires("read")
def list_certificates(
    service: TheService,
    caller: TheCaller,
    predictor: QueryId = None,
    dataset: QueryId = None,
    model: QueryId = None,
    alpha: Annotated[float | None, Query(gt=0, lt=1)] = None,
    bound: Annotated[str | None, Query(pattern=_BOUND_PATTERN)] = None,
    validity: Annotated[str | None, Query(pattern="^(consistent|contradicted|withdrawn)$")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Response:
    with service.store.reading() as work:
        page = work.certificates.list(
            caller.tenant,
            predictor_id=predictor,
            dataset_id=dataset,
            model_id=model,
            alpha=alpha,
            bound=bound,
            validity=validity,
            limit=limit,
            cursor=cursor,
        )
    # The documents are JSON already, and are passed on byte for byte.
    items = ",".join(record.document for record in page.items)
    cursor_json = f'"{page.next_cursor}"' if page.next_cursor else "null"
    return Response(f'{{"items":[{items}],"next_cursor":{cursor_json}}}', media_type="application/json")


@router.get("/certificates/key", response_model=PublicKey)
@requires("read")
def get_public_key(service: TheService) -> Any:
    """The key whose signature certificates issued here bear."""
    return PublicKey(algorithm="ed25519", public_key=service.public_key)


@router.get(
    "/certificates/{id}",
    response_class=Response,
    responses={**_DOCUMENT, 304: {"description": "as before"}, **problems(404, 422)},
)
@requires("read")
def get_certificate(
    id: PathId, service: TheService, caller: TheCaller, if_none_match: Annotated[str | None, Header()] = None
) -> Response:
    record, status = _with_status(service, caller.tenant, id)
    etag = f'"{record.digest}"'
    # The document never changes; what outcomes say about it stands beside it, and is asked for again each time.
    headers = {"ETag": etag, "Cache-Control": "private, no-cache", "Certificate-Status": status}
    if if_none_match is not None and (
        if_none_match.strip() == "*" or etag in [tag.strip().removeprefix("W/") for tag in if_none_match.split(",")]
    ):
        return Response(status_code=304, headers=headers)
    return Response(record.document, headers=headers, media_type="application/json")


@router.get("/certificates/{id}/verify", response_model=Verification, responses=problems(404, 422))
@requires("read")
def verify_certificate(id: PathId, service: TheService, caller: TheCaller) -> Any:
    """Recomputes every promise from the certificate's own numbers, and checks the signature."""
    record, status = _with_status(service, caller.tenant, id)
    certificate = Certificate.from_json(record.document)
    signer = signed_by(certificate)
    found = certificate.verify(signer if signer in service.retired_keys else service.public_key)
    return {**found.to_json(), "status": status}


def _with_status(service: Service, tenant: str, id: str) -> tuple[CertificateRecord, str]:
    """The certificate, and what outcomes say about it, or that its predictor was deleted."""
    with service.store.reading() as work:
        record = work.certificates.get(tenant, id)
        contradicted = work.outcomes.monitor(tenant, record.predictor_id).contradicted_at is not None
        withdrawn = work.predictors.is_withdrawn(tenant, record.predictor_id)
    return record, certificate_status(contradicted=contradicted, withdrawn=withdrawn)
