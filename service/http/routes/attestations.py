"""What a reader takes away and checks elsewhere: signed statements about a certificate, in DSSE envelopes.

Only certificates that bear a signature of this deployment are spoken of, so that this route cannot be made to sign
numbers that somebody wrote into the database.
"""

import json
from typing import Annotated, Any

from fastapi import APIRouter, Header, Response

from certiset.core.certificate import dsse
from certiset.core.certificate.attestation import PAYLOAD_TYPE, attested, status_word
from certiset.core.jobs.standing import standing_of
from certiset.service.http.access.requirements import requires
from certiset.service.http.etags import matches
from certiset.service.http.routes.dependencies import TheCaller, TheService
from certiset.service.http.schemas.common import ALWAYS, PathId, problems

router = APIRouter(tags=["certificates"], responses=ALWAYS)

_ENVELOPE: dict[str, Any] = {
    "type": "object",
    "required": ["payloadType", "payload", "signatures"],
    "properties": {
        "payloadType": {"type": "string", "enum": [PAYLOAD_TYPE]},
        "payload": {"type": "string", "description": "base64: an in-toto Statement v1"},
        "signatures": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["keyid", "sig"],
                "properties": {
                    "keyid": {"type": "string", "description": "the key's id in GET /certificates/keys"},
                    "sig": {"type": "string", "description": "base64: Ed25519"},
                },
            },
        },
    },
}
_SIGNED: dict[int | str, dict[str, Any]] = {
    200: {"description": "a DSSE envelope", "content": {dsse.MEDIA_TYPE: {"schema": _ENVELOPE}}}
}


@router.get(
    "/certificates/{id}/attestation",
    response_class=Response,
    responses={**_SIGNED, 304: {"description": "as before"}, **problems(404, 422)},
)
@requires("read")
def get_attestation(
    id: PathId, service: TheService, caller: TheCaller, if_none_match: Annotated[str | None, Header()] = None
) -> Response:
    """The certificate as an in-toto Statement v1 about its own file and the predictor's, signed by the current key."""
    with service.store.reading() as work:
        document = work.certificates.get(caller.tenant, id).document
    certificate = service.issuer_keys.document(document, id)
    envelope = dsse.sealed(attested(certificate, document), PAYLOAD_TYPE, service.signer)
    signature = envelope["signatures"][0]
    etag = f'"{certificate.digest[:32]}-{signature["keyid"]}"'
    headers = {"ETag": etag, "Cache-Control": "private, no-cache"}
    if matches(if_none_match, etag):
        return Response(status_code=304, headers=headers)
    return Response(json.dumps(envelope), headers=headers, media_type=dsse.MEDIA_TYPE)


@router.get("/certificates/{id}/status", response_class=Response, responses={**_SIGNED, **problems(404, 422)})
@requires("read")
def get_status(id: PathId, service: TheService, caller: TheCaller) -> Response:
    """Whether it is in force, contradicted or withdrawn: an in-toto Statement v1, dated and signed as it is asked."""
    with service.store.reading() as work:
        record = work.certificates.get(caller.tenant, id)
        standing = standing_of(work, record)
    certificate = service.issuer_keys.document(record.document, id)
    said = status_word(certificate, record.document, standing.word())
    headers = {"Cache-Control": "no-store", "Certificate-Status": standing.status}
    envelope = dsse.sealed(said, PAYLOAD_TYPE, service.signer)
    return Response(json.dumps(envelope), headers=headers, media_type=dsse.MEDIA_TYPE)
