"""The page's scripts and styles: looked at again at each visit, so that an upgrade shows at once."""

from typing import Any

from fastapi.staticfiles import StaticFiles
from starlette.responses import Response

from certiset.service.http.access.requirements import public


@public
class PageFiles(StaticFiles):
    def file_response(self, *arguments: Any, **options: Any) -> Response:
        response = super().file_response(*arguments, **options)
        response.headers["Cache-Control"] = "no-cache"
        response.headers["X-Content-Type-Options"] = "nosniff"
        return response
