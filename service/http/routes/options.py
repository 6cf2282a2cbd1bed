"""The options of a calibration, for forms and programs that offer them."""

from typing import Any

from fastapi import APIRouter
from fastapi.responses import JSONResponse

from certiset.core.data.formats import suffixes
from certiset.core.fit.options import FitOptions
from certiset.service.http.access.requirements import requires
from certiset.service.http.schemas.common import ALWAYS

router = APIRouter(tags=["calibrations"], responses=ALWAYS)

_SCHEMA: dict[int | str, dict[str, Any]] = {
    200: {"description": "JSON Schema", "content": {"application/json": {"schema": {"type": "object"}}}}
}


@router.get("/options", response_class=JSONResponse, responses=_SCHEMA)
@requires("read")
def get_options() -> JSONResponse:
    """Every option of a calibration with its default, its limits and what it means, as JSON Schema."""
    return JSONResponse({**FitOptions.model_json_schema(), "x-file-suffixes": list(suffixes())})
