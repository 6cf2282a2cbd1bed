"""No body is read further than its route allows: too long by its header or on the way, it is refused with 413."""

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from core.settings import Settings
from service.problems import problem_response

_SMALL = 2**20
_FORM_MARGIN = 2**16
"""what a multipart form adds to its file"""


def largest_body(settings: Settings, path: str) -> int:
    if path in ("/datasets", "/models"):
        return settings.max_upload_bytes + _FORM_MARGIN
    if path == "/predict_set" or path.startswith("/v2/"):
        return settings.max_predict_bytes
    return _SMALL


class BodyLimit:
    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] in ("GET", "HEAD"):
            await self._app(scope, receive, send)
            return
        limit = largest_body(scope["app"].state.service.settings, scope["path"])
        detail = f"The body is too large: at most {limit:,} bytes are accepted here."
        if _declared(scope) > limit:
            await problem_response(413, detail, headers={"Connection": "close"})(scope, receive, send)
            return
        seen = 0

        async def counted() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > limit:
                raise HTTPException(413, detail, {"Connection": "close"})
            return message

        await self._app(scope, counted, send)


def _declared(scope: Scope) -> int:
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit():
            return int(value)
    return 0
