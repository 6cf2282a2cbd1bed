"""Models to calibrate."""

from contextlib import ExitStack
from typing import Any

from fastapi import APIRouter, Request, Response
from starlette.datastructures import FormData, UploadFile

from certiset.core.errors import OptionError
from certiset.core.jobs import add_model, deletion, naming
from certiset.core.jobs.views import model_resource
from certiset.core.resources import Model
from certiset.service.http.access.requirements import requires, upload_body
from certiset.service.http.routes.dependencies import ActingStore, TheCaller, TheListQuery, TheService
from certiset.service.http.routes.uploads import answer_upload, form_of, on_disk, optional_file, upload_route
from certiset.service.http.schemas.common import ALWAYS, Items, NameRequest, PathId, problems

router = APIRouter(tags=["models"], responses=ALWAYS)

_FIELDS = {
    "manifest": {"type": "string", "description": "JSON, as text or as a file"},
    "weights": {"type": "string", "format": "binary", "description": ".safetensors"},
    "onnx": {"type": "string", "format": "binary", "description": ".onnx"},
    "backbone": {"type": "string", "format": "binary", "description": "an older name of onnx"},
}
_LONGEST_MANIFEST = 2**20


@router.post("/models", **upload_route(Model, "the same model was uploaded before", _FIELDS, "manifest"))
@requires("write", action="model.create", largest_body=upload_body, to_disk=True)
async def upload_model(
    request: Request, response: Response, service: TheService, caller: TheCaller, store: ActingStore
) -> Any:
    """Takes a manifest and weights, and refuses what cannot be loaded."""
    async with form_of(request) as form:
        manifest = await _manifest(form)
        weights, onnx = optional_file(form, "weights"), optional_file(form, "onnx") or optional_file(form, "backbone")

        def add() -> tuple[Model, bool]:
            with ExitStack() as files:
                folder = service.settings.scratch
                paths = [
                    None if file is None else files.enter_context(on_disk(file, folder)) for file in (weights, onnx)
                ]
                record, new = add_model(store, caller.tenant, manifest, paths[0], onnx=paths[1])
            return model_resource(record), new

        return await answer_upload(response, service, caller.tenant, "models", add)


@router.get("/models", response_model=Items[Model], responses=problems(422))
@requires("read")
def list_models(service: TheService, caller: TheCaller, query: TheListQuery) -> Any:
    with service.store.reading() as work:
        page = query.page(work.models, caller.tenant)
    return Items.of(page, model_resource)


@router.get("/models/{id}", response_model=Model, responses=problems(404, 422))
@requires("read")
def get_model(id: PathId, service: TheService, caller: TheCaller) -> Any:
    with service.store.reading() as work:
        return model_resource(work.models.get(caller.tenant, id))


@router.patch("/models/{id}", response_model=Model, responses=problems(400, 404, 413, 422))
@requires("write", action="model.rename")
def rename_model(id: PathId, body: NameRequest, caller: TheCaller, store: ActingStore) -> Any:
    """A new name; certificates keep the one that they were issued with."""
    record = naming.rename_model(store, caller.tenant, id, body.name)
    return model_resource(record)


@router.delete("/models/{id}", status_code=204, response_class=Response, responses=problems(404, 409, 422))
@requires("write", action="model.delete")
def delete_model(id: PathId, caller: TheCaller, store: ActingStore) -> None:
    """Removes the model; predictors and certificates made with it go on working."""
    deletion.delete_model(store, caller.tenant, id)


async def _manifest(form: FormData) -> str:
    value = form.get("manifest")
    if isinstance(value, UploadFile):
        try:
            return (await value.read(_LONGEST_MANIFEST)).decode()
        except UnicodeDecodeError:
            raise OptionError("The manifest is not UTF-8.", field="manifest") from None
    if not isinstance(value, str):
        raise OptionError("The form lacks the manifest.", field="manifest")
    return value
