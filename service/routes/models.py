"""Models to calibrate."""

from typing import Any

from anyio.to_thread import run_sync
from fastapi import APIRouter, Request, Response
from starlette.datastructures import FormData, UploadFile

from core.intake import add_model
from core.store.records import ModelRecord
from service.problems import wrong_field
from service.routes.dependencies import TheCaller, TheService
from service.routes.uploads import UPLOADS, file_field, form_of, on_disk
from service.schemas.common import ALWAYS, Cursor, Items, Limit, PathId, problems
from service.schemas.resources import ModelAnswer

router = APIRouter(tags=["models"], responses=ALWAYS)

_FORM = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["manifest"],
                    "properties": {
                        "manifest": {"type": "string", "description": "JSON, as text or as a file"},
                        "weights": {"type": "string", "format": "binary", "description": ".safetensors"},
                        "backbone": {"type": "string", "format": "binary", "description": ".onnx"},
                    },
                }
            }
        },
    }
}


@router.post(
    "/models",
    status_code=201,
    response_model=ModelAnswer,
    responses={**problems(400, 413, 415, 422, 507), 200: {"model": ModelAnswer, "description": "this model was here"}},
    openapi_extra=_FORM,
)
async def upload_model(request: Request, response: Response, service: TheService, caller: TheCaller) -> Any:
    """Takes a manifest and weights, and refuses what cannot be loaded."""
    async with form_of(request) as form:
        manifest = await _manifest(form)
        weights, backbone = file_field(form, "weights", required=False), file_field(form, "backbone", required=False)
        folder = service.settings.home / "uploads"

        def store() -> tuple[ModelRecord, bool]:
            with on_disk(weights, folder) as weights_file, on_disk(backbone, folder) as backbone_file:
                return add_model(service.store, caller.tenant, manifest, weights_file, onnx=backbone_file)

        record, made = await run_sync(store, limiter=UPLOADS)
    response.status_code = 201 if made else 200
    response.headers["Location"] = f"/models/{record.id}"
    return ModelAnswer.of(record)


@router.get("/models", response_model=Items[ModelAnswer], responses=problems(422))
def list_models(service: TheService, caller: TheCaller, limit: Limit = 50, cursor: Cursor = None) -> Any:
    with service.store.reading() as work:
        page = work.models.list(caller.tenant, limit=limit, cursor=cursor)
    return Items(items=[ModelAnswer.of(record) for record in page.items], next_cursor=page.next_cursor)


@router.get("/models/{id}", response_model=ModelAnswer, responses=problems(404, 422))
def get_model(id: PathId, service: TheService, caller: TheCaller) -> Any:
    with service.store.reading() as work:
        return ModelAnswer.of(work.models.get(caller.tenant, id))


async def _manifest(form: FormData) -> str:
    value = form.get("manifest")
    if isinstance(value, UploadFile):
        try:
            return (await value.read(2**20)).decode()
        except UnicodeDecodeError:
            raise wrong_field("manifest", "The manifest is not UTF-8.") from None
    if not isinstance(value, str):
        raise wrong_field("manifest", "The form lacks the manifest.")
    return value
