"""From a manifest and weights to a model that is known to load."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from safetensors.torch import save

from certiset.core.errors import ModelError
from certiset.core.jobs.insert import insert_with_artifact
from certiset.core.jobs.model_trial import try_model
from certiset.core.models import Manifest, Model
from certiset.core.store.identifiers import new_id
from certiset.core.store.records import ModelRecord
from certiset.core.store.store import Store, Transaction
from certiset.core.store.text import printable

_LONGEST_NAME = 200
_UPLOAD_FIELDS = {"manifest": "manifest", "weights": "weights", "onnx": "backbone"}
"""by what `Model.from_manifest` calls them"""


def add_model(
    store: Store,
    tenant: str,
    manifest: Manifest | Mapping[str, Any] | str,
    weights: Path | Mapping[str, Any] | None = None,
    *,
    onnx: Path | None = None,
) -> tuple[ModelRecord, bool]:
    """The model, and whether it is new. It is built once here, so that a wrong one is refused before any fit.

    An error names the field of the upload: manifest, or a field inside it such as manifest.head.widths, weights, or
    backbone, the ONNX file.
    """
    try:
        model = _built(manifest, weights, onnx)
    except ModelError as error:
        error.field = _upload_field(error.field, weights, onnx)
        raise
    described, digest = model.manifest, model.sha256

    def make() -> tuple[ModelRecord, bytes]:
        content = save({name: tensor.contiguous() for name, tensor in model.tensors().items()})
        record = ModelRecord(
            id=new_id("mod"),
            tenant=tenant,
            name=printable(described.name, _LONGEST_NAME),
            task=described.task,
            manifest=described.to_json(),
            sha256=digest,
            bytes=len(content),
        )
        return record, content

    return insert_with_artifact(
        store,
        lambda work: work.models.of_content(tenant, digest),
        make,
        _insert,
    )


def _insert(work: Transaction, record: ModelRecord) -> ModelRecord:
    work.audit.add("model.create", record.tenant, "model", record.id)
    return work.models.add(record)


def _built(
    manifest: Manifest | Mapping[str, Any] | str, weights: Path | Mapping[str, Any] | None, onnx: Path | None
) -> Model:
    described = Manifest.parse(manifest)
    if described.backbone.needs_trial and not isinstance(weights, Mapping):
        try_model(described.to_json(), weights, onnx)
    return Model.from_manifest(described, weights, onnx=onnx)


def _upload_field(field: str | None, weights: object, onnx: object) -> str:
    """An error that names no field is about what the backbone came in."""
    if field is None:
        given = {"backbone": onnx, "weights": weights}
        return next((name for name, value in given.items() if value is not None), "manifest")
    return _UPLOAD_FIELDS.get(field, f"manifest.{field}")
