"""The mean size of a predictor's sets, certified on a dataset of fresh inputs, and kept among its certificates."""

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from certiset.core.certificate import SizeStatement
from certiset.core.certificate.fresh_sizes import size_account
from certiset.core.certificate.signing import Signer
from certiset.core.data.arrays import check_inputs
from certiset.core.data.stored_rows import map_dataset
from certiset.core.errors import CertisetError, ConflictError, DataError, TooLargeError
from certiset.core.store.certificates import SIZES
from certiset.core.store.records import CertificateRecord, Dataset
from certiset.core.store.store import Store

if TYPE_CHECKING:
    from certiset.core.fit import Predictor

_MOST_STATEMENTS = 200
"""about one predictor"""


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
    _check_fresh(predictor, dataset, issued)
    if dataset.rows > store.settings.max_predict_rows:
        raise TooLargeError(
            f"Sizes are certified on at most {store.settings.max_predict_rows:,} inputs.", field="dataset_id"
        )
    made = _made(store, predictor, dataset, gamma, member)
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


def _check_fresh(predictor: "Predictor", dataset: Dataset, issued: CertificateRecord) -> None:
    data = predictor.certificate.data
    same_file = data is not None and data.file_sha256 == dataset.sha256
    if dataset.id == issued.dataset_id or same_file:
        raise DataError(
            "The predictor was calibrated on these rows: sizes are certified on inputs that were used for nothing "
            "else.",
            field="dataset_id",
        )


def _made(store: Store, predictor: "Predictor", dataset: Dataset, gamma: float, member: int | None) -> SizeStatement:
    from certiset.core.fit.fresh_sizes import certify_size  # noqa: PLC0415 (PyTorch)

    columns = predictor.certificate.data.columns if predictor.certificate.data is not None else None
    try:
        with store.local_file(dataset.artifact) as file:
            inputs = check_inputs(predictor.scorer.model, map_dataset(file).frame.inputs(columns, ())[0])
            made = certify_size(predictor, inputs, gamma, member)
    except CertisetError as error:
        if isinstance(error, DataError):
            error.field = "dataset_id"
        raise
    named = replace(made, provenance=replace(made.provenance, file_sha256=dataset.sha256))
    # What a file is called is no part of what it holds, nor of the statement's id.
    return replace(named, id=named.digest_id)
