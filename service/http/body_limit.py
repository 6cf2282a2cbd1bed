"""No body is read further than its route allows: too long by its header or on the way, it is refused with 413."""

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from certiset.service.http.access.requirements import AccessTable
from certiset.service.http.problems import problem_response


class BodyLimit:
    def __init__(self, app: ASGIApp, access: AccessTable) -> None:
        self._app, self._access = app, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] in ("GET", "HEAD"):
            await self._app(scope, receive, send)
            return
        settings = scope["app"].state.service.settings
        limit = self._access.of(scope["method"], scope["path"]).largest_body(settings)
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
