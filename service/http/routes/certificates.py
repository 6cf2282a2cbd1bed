"""Certificates: immutable, signed, shown only as they were signed, and checked on request by their own numbers."""

from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Response

from certiset.core.certificate.checks import equal
from certiset.core.certificate.guarantees import GUARANTEES
from certiset.core.certificate.issuer_keys import read_document
from certiset.core.certificate.public_keys import key_id
from certiset.core.errors import DamagedFileError
from certiset.core.jobs.standing import standing_of
from certiset.core.resources import PublicKey, Verification
from certiset.service.http.access.requirements import requires
from certiset.service.http.etags import matches
from certiset.service.http.routes.dependencies import TheCaller, TheService
from certiset.service.http.schemas.common import ALWAYS, Cursor, Items, Limit, PathId, QueryId, QueryReference, problems
from certiset.service.report.certificate_report import report

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
_PDF = "application/pdf"
_REPORT: dict[int | str, dict[str, Any]] = {
    200: {"description": "one page", "content": {_PDF: {"schema": {"type": "string", "format": "binary"}}}}
}
_BOUND_PATTERN = f"^({'|'.join(GUARANTEES)})$"


@router.get("/certificates", response_class=Response, responses={**_LIST, **problems(404, 422)})
@requires("read")
def list_certificates(
    service: TheService,
    caller: TheCaller,
    predictor: QueryReference = None,
    dataset: QueryId = None,
    model: QueryId = None,
    alpha: Annotated[float | None, Query(gt=0, lt=1)] = None,
    bound: Annotated[str | None, Query(pattern=_BOUND_PATTERN)] = None,
    validity: Annotated[str | None, Query(pattern="^(consistent|contradicted|withdrawn)$")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Response:
    """Those that are not as they were signed are left out; asked for one by one, they say what is wrong.

    Statements about sizes on fresh inputs are among them, with `kind: "sizes"`.
    """
    with service.store.reading() as work:
        if predictor is not None:
            predictor = work.deployments.predictor_of(caller.tenant, predictor)
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
    keys = service.issuer_keys
    # The documents are JSON already, and are passed on byte for byte.
    items = ",".join(record.document for record in page.items if keys.has_issued(record.document, record.id))
    cursor_json = f'"{page.next_cursor}"' if page.next_cursor else "null"
    return Response(f'{{"items":[{items}],"next_cursor":{cursor_json}}}', media_type="application/json")


@router.get("/certificates/key", response_model=PublicKey)
@requires("read")
def get_public_key(service: TheService) -> Any:
    """The key whose signature certificates issued here bear."""
    return _public_key(service.issuer_keys.current, "current")


@router.get("/certificates/keys", response_model=Items[PublicKey])
@requires("read")
def list_public_keys(service: TheService) -> Any:
    """All keys whose certificates are trusted here: the current one, and those that signed before it."""
    retired = [_public_key(key, "retired") for key in service.issuer_keys.retired]
    return Items(items=[_public_key(service.issuer_keys.current, "current"), *retired])


@router.get(
    "/certificates/{id}",
    response_class=Response,
    responses={**_DOCUMENT, 304: {"description": "as before"}, **problems(404, 422)},
)
@requires("read")
def get_certificate(
    id: PathId, service: TheService, caller: TheCaller, if_none_match: Annotated[str | None, Header()] = None
) -> Response:
    """The certificate, byte for byte as it was issued; one that was changed since is not shown."""
    with service.store.reading() as work:
        record = work.certificates.get(caller.tenant, id)
        status = standing_of(work, record).status
    etag = f'"{service.issuer_keys.digest_of(record.document, id)}"'
    # The document never changes; what outcomes say about it stands beside it, and is asked for again each time.
    headers = {"ETag": etag, "Cache-Control": "private, no-cache", "Certificate-Status": status}
    if matches(if_none_match, etag):
        return Response(status_code=304, headers=headers)
    return Response(record.document, headers=headers, media_type="application/json")


@router.get("/certificates/{id}/verify", response_model=Verification, responses=problems(404, 422))
@requires("read")
def verify_certificate(id: PathId, service: TheService, caller: TheCaller) -> Any:
    """Recomputes every promise from the certificate's own numbers, and checks the signature."""
    with service.store.reading() as work:
        record = work.certificates.get(caller.tenant, id)
        status = standing_of(work, record).status
    try:
        certificate = read_document(record.document)
        found = certificate.verify(service.issuer_keys.all)
    except DamagedFileError as error:
        readable = {"name": "document", "ok": False, "expected": "a certificate", "found": str(error)}
        return {"valid": False, "status": status, "checks": [readable]}
    if certificate.id != id:
        found = found.beside([equal("id asked for", id, certificate.id)])
    return {**found.to_json(), "status": status}


@router.get("/certificates/{id}/report.pdf", response_class=Response, responses={**_REPORT, **problems(404, 422)})
@requires("read")
def get_report(id: PathId, service: TheService, caller: TheCaller) -> Response:
    """One page for a reader without a screen: the promise, its caveats and conditions, and how to check it."""
    with service.store.reading() as work:
        record = work.certificates.get(caller.tenant, id)
        status = standing_of(work, record).status
    certificate = service.issuer_keys.issued(record.document, id)
    checks = certificate.verify(service.issuer_keys.all).checks
    content = report(record.document, status, (len(checks), sum(check.ok for check in checks)))
    headers = {"Cache-Control": "private, no-cache", "Content-Disposition": f'inline; filename="{id}.pdf"'}
    return Response(content, headers=headers, media_type=_PDF)


def _public_key(key: str, status: str) -> PublicKey:
    return PublicKey(id=key_id(key), algorithm="ed25519", public_key=key, status=status)
