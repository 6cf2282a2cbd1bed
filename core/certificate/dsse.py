"""DSSE: a signature over bytes and what they are, in an envelope of JSON that tools of other makers read, too."""

import base64
import binascii
from collections.abc import Collection, Mapping
from typing import Any

from certiset.core.certificate.public_keys import key_id
from certiset.core.certificate.signing import Signer, has_signed
from certiset.core.errors import DamagedFileError

MEDIA_TYPE = "application/vnd.dsse.envelope.v1+json"


def sealed(payload: bytes, payload_type: str, signer: Signer) -> dict[str, Any]:
    """The envelope of a payload."""
    return {
        "payloadType": payload_type,
        "payload": base64.b64encode(payload).decode(),
        "signatures": [
            {
                "keyid": key_id(signer.public_key),
                "sig": base64.b64encode(signer.signature(signed_bytes(payload, payload_type))).decode(),
            }
        ],
    }


def opened(envelope: Mapping[str, Any], trusted: Collection[str]) -> bytes:
    """The payload, if one of these public keys has signed it; otherwise a `DamagedFileError`."""
    try:
        payload, kind = base64.b64decode(envelope["payload"], validate=True), str(envelope["payloadType"])
        signatures = [base64.b64decode(entry["sig"], validate=True) for entry in envelope["signatures"]]
    except (KeyError, TypeError, binascii.Error) as error:
        raise DamagedFileError(f"this is not a DSSE envelope: {error}.") from None
    content = signed_bytes(payload, kind)
    if not any(has_signed(key, signature, content) for key in trusted for signature in signatures):
        raise DamagedFileError("nobody who was named has signed this envelope.")
    return payload


def signed_bytes(payload: bytes, payload_type: str) -> bytes:
    """What is signed: the lengths keep the type from being taken for a part of the payload, or the other way round."""
    kind = payload_type.encode()
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)
