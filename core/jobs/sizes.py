"""The mean size of a predictor's sets, certified on a dataset of fresh inputs, and kept among its certificates."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from certiset.core.certificate import SizeStatement
from certiset.core.certificate.content import Caveat
from certiset.core.certificate.fresh_sizes import size_account
from certiset.core.certificate.rounding import about
from certiset.core.certificate.signing import Signer
from certiset.core.data.arrays import check_inputs
from certiset.core.data.frame import Frame
from certiset.core.data.row_sketch import SHARE
from certiset.core.data.shared_rows import shared_rows
from certiset.core.data.stored_rows import map_dataset
from certiset.core.errors import CertisetError, ConflictError, DamagedFileError, DataError, TooLargeError
from certiset.core.store.certificates import SIZES
from certiset.core.store.records import CertificateRecord, Dataset
from certiset.core.store.store import Store

if TYPE_CHECKING:
    from certiset.core.fit import Predictor

_MOST_STATEMENTS = 200
"""about one predictor"""
_MOSTLY = 0.5
_NOT_COMPARED = (
    "Whether these inputs are among the rows that tuned and calibrated the predictor could not be seen: those are "
    "no longer stored."
)


def certify_sizes(
    store: Store,
    tenant: str,
    predictor_id: str,
    predictor: "Predictor",
    dataset_id: str,
    *,
    gamma: float,
    member: int | None,
    signer: Signer,
) -> CertificateRecord:
    """The statement, signed and stored; the same request again finds the one that it made.

    ``predictor`` is what was loaded of that id. An error names the field of the request.
    """
    with store.reading() as work:
        work.predictors.get(tenant, predictor_id)
        dataset = work.datasets.get(tenant, dataset_id)
        issued = work.certificates.get(tenant, predictor.certificate.id)
        calibrated = work.datasets.find(issued.dataset_id)
    _check_fresh(predictor, dataset, issued)
    if dataset.rows > store.settings.max_predict_rows:
        raise TooLargeError(
            f"Sizes are certified on at most {store.settings.max_predict_rows:,} inputs.", field="dataset_id"
        )
    made = _made(store, predictor, dataset, calibrated, gamma, member)
    with store.writing() as work:
        work.tenants.lock(tenant)
        # Looked up again: either may have been deleted while the sizes were computed.
        work.predictors.get(tenant, predictor_id)
        known = work.certificates.on_sizes(tenant, predictor_id)
        found = next((record for record in known if record.id == made.id), None)
        if found is not None:
            return found
        if len(known) >= _MOST_STATEMENTS:
            raise ConflictError(f"There are {_MOST_STATEMENTS} statements about the sizes of {predictor_id} already.")
        gammas = [float(json.loads(record.document)["sizes"]["gamma"]) for record in known]
        signed = signer.sign(replace(made, account=size_account([*gammas, made.sizes.gamma])))
        record = CertificateRecord(
            tenant=tenant,
            id=signed.id,
            predictor_id=predictor_id,
            dataset_id=dataset.id,
            model_id=issued.model_id,
            digest=signed.digest,
            # It promises no coverage: no search for an alpha finds it.
            alpha=0.0,
            bound=SIZES,
            document=json.dumps(signed.to_json(), allow_nan=False),
        )
        work.certificates.add(record)
        work.audit.add("predictor.sizes", tenant, "certificate", record.id)
        return record


@contextmanager
def _rows(store: Store, predictor: "Predictor", dataset: Dataset) -> Iterator[tuple[NDArray[Any], Frame]]:
    """Inputs of a stored dataset, as the predictor takes them, and all of its columns; views of its file."""
    from certiset.core.fit.frame_rows import frame_inputs  # noqa: PLC0415 (PyTorch)

    with store.local_file(dataset.artifact) as file:
        frame = map_dataset(file).frame
        yield check_inputs(predictor.scorer.model, frame_inputs(predictor, frame)), frame


def _reused(store: Store, predictor: "Predictor", inputs: NDArray[Any], calibrated: Dataset | None) -> list[Caveat]:
    """What is to be said of inputs that the predictor knows; an error if it knows most of them.

    Rows are compared by their inputs, in any order and format, since those of fresh data may have no truths.
    """
    if calibrated is None:
        return [Caveat("not_compared", _NOT_COMPARED)]
    try:
        with _rows(store, predictor, calibrated) as (known, _):
            share = shared_rows(inputs, known)
    except DamagedFileError:
        return [Caveat("not_compared", _NOT_COMPARED)]
    if share >= _MOSTLY:
        raise DataError(
            f"{about(share)} of these inputs are among the rows that tuned and calibrated the predictor: sizes are "
            "certified on inputs that were used for nothing else."
        )
    if share < SHARE:
        return []
    return [
        Caveat(
            "used_before",
            f"{about(share)} of the inputs are among the rows that tuned and calibrated the predictor: the statement "
            "counts each as new evidence, and may be false. Leave them out.",
        )
    ]


def _check_fresh(predictor: "Predictor", dataset: Dataset, issued: CertificateRecord) -> None:
    data = predictor.certificate.data
    same_file = data is not None and data.file_sha256 == dataset.sha256
    if dataset.id == issued.dataset_id or same_file:
        raise DataError(
            "The predictor was calibrated on these rows: sizes are certified on inputs that were used for nothing "
            "else.",
            field="dataset_id",
        )


def _made(
    store: Store,
    predictor: "Predictor",
    dataset: Dataset,
    calibrated: Dataset | None,
    gamma: float,
    member: int | None,
) -> SizeStatement:
    from certiset.core.fit.frame_rows import frame_groups  # noqa: PLC0415 (PyTorch)
    from certiset.core.fit.fresh_sizes import certify_size  # noqa: PLC0415

    try:
        with _rows(store, predictor, dataset) as (inputs, frame):
            caveats = _reused(store, predictor, inputs, calibrated)
            codes = frame_groups(predictor, frame, len(inputs), "certify its sizes in Python")
            made = certify_size(predictor, inputs, gamma, member, codes=codes)
    except CertisetError as error:
        if isinstance(error, DataError):
            error.field = "dataset_id"
        raise
    made = replace(made, caveats=[*made.caveats, *caveats])
    named = replace(made, provenance=replace(made.provenance, file_sha256=dataset.sha256))
    # What a file is called is no part of what it holds, nor of the statement's id.
    return replace(named, id=named.digest_id)
