"""Predictors that were fitted elsewhere: taken over if everything that can be checked holds, and marked as such.

What a service has computed it can vouch for. Of a saved predictor it can check that the certificate's numbers follow
from each other, that the file is the one that the certificate was issued for, and that the model says here what it said
there. It cannot check that the data were what the certificate says: so the certificate that it signs names the import.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certiset.core import sandbox
from certiset.core.certificate import Certificate
from certiset.core.certificate.names import Names
from certiset.core.certificate.public_keys import key_id
from certiset.core.certificate.signing import Signer, signed_by
from certiset.core.certificate.verification import verify
from certiset.core.confinement import Confinement
from certiset.core.data.limits import Limits
from certiset.core.errors import (
    CertisetError,
    DamagedFileError,
    DataError,
    ModelError,
    OtherArithmeticError,
    TooLargeError,
)
from certiset.core.fit.saved_predictor import is_description, read_description
from certiset.core.jobs.insert import insert_or_get
from certiset.core.store.identifiers import new_id
from certiset.core.store.predictors import FitResult
from certiset.core.store.quotas import Amounts
from certiset.core.store.records import PredictorRecord
from certiset.core.store.store import Store, Transaction

_SECONDS = 60
_MEMORY = 6 * 2**30
_LONGEST_ANSWER = 6 * Limits().json_bytes
"""bytes: a letter of two may be written with six"""
_OTHER_FILE = "The file is not the one that the certificate was issued for."


def import_predictor(
    store: Store, tenant: str, description: Path, tensors: Path, *, name: str, signer: Signer
) -> tuple[PredictorRecord, bool]:
    """From the two files of a saved predictor; also whether it is new. An error names the file that is wrong."""
    size = tensors.stat().st_size
    with store.reading() as work:
        work.tenants.check(tenant, Amounts(predictors=1, bytes=size))
    described, members = _confined(description, tensors)
    certificate = _read(described)
    # Once more, where nobody else's code runs: what is signed below rests on it, and it is known to be quick by now.
    _check_numbers(certificate)
    with tensors.open("rb") as stream:
        if certificate.provenance.predictor_sha256 not in (None, hashlib.file_digest(stream, "sha256").hexdigest()):
            raise DataError(_OTHER_FILE, field="file")
    document = signer.sign(replace(certificate, signature=None, names=_marked(certificate)))
    result = FitResult(
        predictor_id=certificate.predictor_id,
        certificate_id=certificate.id,
        digest=certificate.digest,
        alpha=certificate.coverage.alpha,
        bound=certificate.coverage.bound,
        score=described["scoring"]["score"]["kind"],
        members=members,
        description={part: described[part] for part in ("format", "manifest", "scoring")},
        artifact=store.artifacts.put(tensors),
        document=json.dumps(document.to_json(), allow_nan=False),
        stored_bytes=size,
    )

    def find(work: Transaction) -> PredictorRecord | None:
        found = work.predictors.find(tenant, result.predictor_id)
        return None if found is None or found.withdrawn_at is not None else found

    def insert(work: Transaction) -> PredictorRecord:
        work.tenants.admit(tenant, Amounts(predictors=1, bytes=size))
        named = name or described["manifest"].get("name", "")
        record = work.predictors.add_imported(tenant, new_id("cal"), named, result)
        work.audit.add("predictor.import", tenant, "predictor", record.id)
        return record

    return insert_or_get(store, find, insert)


def _check_numbers(certificate: Certificate) -> None:
    # Named before the certificate itself was: by all but its own name.
    if certificate.predictor_id != f"pred-{replace(certificate, predictor_id='').digest[:20]}":
        raise DataError("The certificate names another predictor than its own.", field="description")
    found = verify(certificate)
    wrong = next((check for check in found.checks if not check.ok), None)
    if wrong is not None or not found.holds:
        what = "its signature" if wrong is None else wrong.name
        raise DataError(f"The certificate does not hold: {what} is not as it must be.", field="description")


def _marked(certificate: Certificate) -> Names:
    """With a word that whoever signs now has not seen the data; and whose signature it bore, if it bore one."""
    signer = signed_by(certificate)
    before = "unsigned" if signer is None else f"signed by key {key_id(signer)}"
    return replace(certificate.names or Names(), imported=f"a saved predictor, {before}")


def _confined(description: Path, tensors: Path) -> tuple[dict[str, Any], int]:
    """The description, and how many members there are.

    What a stranger wrote is read, recomputed and built for the first time where it can do no harm.
    """
    if description.stat().st_size > Limits().json_bytes:
        raise TooLargeError(f"The description may have at most {Limits().json_bytes:,} bytes.", field="description")
    confinement = Confinement(
        memory=_MEMORY,
        cpu_seconds=_SECONDS,
        niceness=5,
        readable=(str(description.absolute()), str(tensors.absolute())),
    )
    arguments = {"description": str(description.absolute()), "tensors": str(tensors.absolute())}
    try:
        (told,) = sandbox.call(
            f"{__name__}:{check_saved.__name__}",
            arguments,
            confinement=confinement,
            seconds=_SECONDS,
            most_bytes=_LONGEST_ANSWER,
        ).arrays
        described, members = json.loads(told.tobytes())
        if not is_description(described) or type(members) is not int or members < 1:
            raise ValueError("it is another answer")
    except OtherArithmeticError as error:
        raise DataError(f"{error} It was therefore not taken over.", field="file") from None
    except (DamagedFileError, ModelError) as error:
        raise DataError(str(error), field="file") from None
    except sandbox.SandboxError as error:
        raise DataError(
            f"The predictor could not be loaded, with at most {_MEMORY // 2**30} GiB and {_SECONDS} seconds: its "
            f"process {error}.",
            field="file",
        ) from error
    except (ValueError, TypeError, RecursionError) as error:
        if isinstance(error, CertisetError):
            raise
        raise DataError("The predictor could not be loaded: its process gave an answer that makes no sense.") from None
    return described, members


def check_saved(description: str, tensors: str) -> tuple[NDArray[Any]]:
    """This runs confined: the certificate's numbers, the file held against it, and its canaries against this machine.

    The description and the number of members, as JSON.
    """
    from certiset.core.fit.canaries import check_canaries  # noqa: PLC0415 (PyTorch is loaded within the limits)
    from certiset.core.fit.predictor import make_predictor  # noqa: PLC0415
    from certiset.core.fit.serialization import read_members  # noqa: PLC0415

    try:
        described = read_description(Path(description))
    except DamagedFileError as error:
        # Where the upload lies is nobody's business.
        raise DataError(str(error).replace(description, "predictor.json"), field="description") from None
    certificate = _read(described)
    _check_numbers(certificate)
    content = Path(tensors).read_bytes()
    if certificate.provenance.predictor_sha256 not in (None, hashlib.sha256(content).hexdigest()):
        raise DataError(_OTHER_FILE, field="file")
    members = read_members(content, described, certificate, source="The file")
    count = check_canaries(make_predictor(members, certificate)).members
    return (np.frombuffer(json.dumps([described, count]).encode(), dtype=np.uint8),)


def _read(described: Mapping[str, Any]) -> Certificate:
    try:
        return Certificate.from_json(described["certificate"])
    except CertisetError as error:
        raise DataError(str(error), field="description") from None
