"""From a manifest and weights to a model that is known to load."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from safetensors.torch import save

from core.intake.entering import enter
from core.intake.judging import judge
from core.models import Manifest, Model
from core.store.identifiers import new_id
from core.store.records import ModelRecord
from core.store.store import Store, Transaction
from core.store.text import printable


def add_model(
    store: Store,
    tenant: str,
    manifest: Manifest | Mapping[str, Any] | str,
    weights: Path | Mapping[str, Any] | None = None,
    *,
    onnx: Path | None = None,
) -> tuple[ModelRecord, bool]:
    """The model, and whether it is new. It is built once here, so that a wrong one is refused before any fit."""
    described = Manifest.parse(manifest)
    if described.backbone != "none" and not isinstance(weights, Mapping):
        judge(described.to_json(), weights, onnx)
    model = Model.from_manifest(described, weights, onnx=onnx)
    digest = model.sha256
    with store.reading() as work:
        known = work.models.of_content(tenant, digest)
    if known is not None and store.artifacts.intact(known.artifact):
        return known, False
    content = save({name: tensor.contiguous() for name, tensor in model.tensors().items()})
    made = ModelRecord(
        id=new_id("mod"),
        tenant=tenant,
        name=printable(model.manifest.name, 200),
        task=model.manifest.task,
        manifest=model.manifest.to_json(),
        sha256=digest,
        artifact=store.artifacts.put(content),
        bytes=len(content),
    )

    def known_before(work: Transaction) -> ModelRecord | None:
        return work.models.of_content(tenant, digest)

    return enter(store, known_before, lambda work: work.models.add(made))
