"""From a manifest and weights to a model that is known to load."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from safetensors.torch import save

from certiset.core.errors import ModelError
from certiset.core.jobs.insert import insert_with_artifact
from certiset.core.jobs.model_conversion import ConvertedModel, convert_model
from certiset.core.models import Manifest, Model
from certiset.core.models.plain_weights import plain_weights
from certiset.core.scratch import scratch_file
from certiset.core.store.identifiers import new_id
from certiset.core.store.quotas import Amounts
from certiset.core.store.records import ModelRecord
from certiset.core.store.store import Store, Transaction
from certiset.core.store.text import printable

_LONGEST_NAME = 200
_UPLOAD_FIELDS = {"manifest": "manifest", "weights": "weights", "onnx": "onnx"}
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
        described = Manifest.parse(manifest)
        with _converted(store, described, weights, onnx) as (converted, content):
            digest = converted.sha256

            def make() -> tuple[ModelRecord, bytes | Path]:
                record = ModelRecord(
                    id=new_id("mod"),
                    tenant=tenant,
                    name=printable(described.name, _LONGEST_NAME),
                    task=described.task,
                    manifest=described.to_json(),
                    sha256=digest,
                    bytes=content.stat().st_size if isinstance(content, Path) else len(content),
                    rows=converted.row_proof.rows,
                    rows_reason=converted.row_proof.reason,
                )
                return record, content

            return insert_with_artifact(
                store,
                lambda work: work.models.of_content(tenant, digest),
                make,
                _insert,
                tenant=tenant,
                wanted=Amounts(models=1),
            )
    except ModelError as error:
        error.field = _upload_field(error.field, weights, onnx)
        raise


@contextmanager
def _converted(
    store: Store, manifest: Manifest, weights: Path | Mapping[str, Any] | None, onnx: Path | None
) -> Iterator[tuple[ConvertedModel, bytes | Path]]:
    """What is known of the model, and its tensors as they are stored.

    Files are read in a confined process; arrays of our own, or a few numbers for a head, are not worth one.
    """
    arrays = weights if isinstance(weights, Mapping) else _arrays(manifest, weights)
    if arrays is not None:
        model = Model.from_manifest(manifest, arrays, onnx=onnx)
        known = ConvertedModel(model.sha256, model.backbone.row_proof)
        yield known, save({name: tensor.contiguous() for name, tensor in model.tensors().items()})
        return
    assert not isinstance(weights, Mapping)
    with scratch_file(store.settings.scratch) as output:
        yield convert_model(manifest.to_json(), weights, onnx, output, store.settings.max_upload_bytes), output


def _arrays(manifest: Manifest, weights: Path | None) -> Mapping[str, Any] | None:
    """Of a file that needs no confined process; None if anything about it does."""
    if not manifest.backbone.is_quick:
        return None
    return {} if weights is None else plain_weights(weights)


def _insert(work: Transaction, record: ModelRecord) -> ModelRecord:
    work.audit.add("model.create", record.tenant, "model", record.id)
    return work.models.add(record)


def _upload_field(field: str | None, weights: object, onnx: object) -> str:
    """An error that names no field is about what the backbone came in."""
    if field is None:
        given = {"onnx": onnx, "weights": weights}
        return next((name for name, value in given.items() if value is not None), "manifest")
    return _UPLOAD_FIELDS.get(field, f"manifest.{field}")
