"""The page at /: a static shell that asks for a key and shows what is served."""

from pathlib import Path

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from certiset.service.http.access.requirements import public

router = APIRouter(include_in_schema=False)

_PAGE = Path(__file__).parents[2] / "static" / "index.html"


@router.get("/", response_class=HTMLResponse)
@public
def page() -> HTMLResponse:
    policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    policy += "frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
    headers = {"Content-Security-Policy": policy, "Cache-Control": "no-cache", "X-Content-Type-Options": "nosniff"}
    return HTMLResponse(_PAGE.read_text(), headers=headers)
