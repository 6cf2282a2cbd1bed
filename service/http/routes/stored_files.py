"""Stored files as answers: fetched once, and from then on only if they are others."""

from fastapi import Response
from fastapi.responses import StreamingResponse

from certiset.service.http.etags import matches
from certiset.service.http.state import Service


def stored_file(
    service: Service, artifact: str, if_none_match: str | None, *, filename: str, media_type: str
) -> Response:
    """Checked while it is sent; its ETag is its SHA-256."""
    etag = f'"{artifact}"'
    headers = {"ETag": etag, "Cache-Control": "private, no-cache"}
    if matches(if_none_match, etag):
        return Response(status_code=304, headers=headers)
    size, pieces = service.store.artifacts.checked_pieces(artifact)
    headers |= {"Content-Length": str(size), "Content-Disposition": f'attachment; filename="{filename}"'}
    return StreamingResponse(pieces, headers=headers, media_type=media_type)
