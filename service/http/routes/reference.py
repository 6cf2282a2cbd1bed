"""The HTTP reference at /docs, written from the OpenAPI document: one page that needs no network and no script."""

from html import escape
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, JSONResponse

from certiset.service.http.access.requirements import public

router = APIRouter(include_in_schema=False)

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>certiset: HTTP reference</title><link rel="stylesheet" href="/static/page.css"></head>
<body><header><h1>HTTP reference</h1>
<p>{description} Version {version}. For machines: <a href="/openapi.json">openapi.json</a>.
For eyes: <a href="/">the dashboard</a>.</p>
<p>Send your key as <code>Authorization: Bearer KEY</code>. Errors are <code>application/problem+json</code>.</p>
</header>
<main>{operations}</main></body></html>
"""


@router.get("/openapi.json")
@public
def openapi(request: Request) -> JSONResponse:
    return JSONResponse(request.app.openapi())


@router.get("/docs", response_class=HTMLResponse)
@public
def reference(request: Request) -> HTMLResponse:
    document = request.app.openapi()
    operations = "".join(
        _operation(method, path, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    )
    info = document["info"]
    content = _PAGE.format(
        description=escape(info["description"]), version=escape(info["version"]), operations=operations
    )
    policy = "default-src 'none'; style-src 'self'"
    return HTMLResponse(content, headers={"Content-Security-Policy": policy})


def _operation(method: str, path: str, operation: dict[str, Any]) -> str:
    scopes = [scope for needed in operation.get("security", []) for scope in needed["bearer"]]
    rows = [("scope", escape(", ".join(scopes) or "open to everybody"))]
    rows += [
        (f"{parameter['in']} <code>{escape(parameter['name'])}</code>", _meaning(parameter))
        for parameter in operation.get("parameters", [])
    ]
    for kind in operation.get("requestBody", {}).get("content", {}):
        rows.append(("body", f"<code>{escape(kind)}</code>"))
    rows += [(str(status), escape(answer["description"])) for status, answer in sorted(operation["responses"].items())]
    table = "".join(f'<tr><th scope="row">{name}</th><td>{meaning}</td></tr>' for name, meaning in rows)
    words = escape(operation.get("description", operation.get("summary", "")))
    return (
        f"<section><h2><code>{method.upper()} {escape(path)}</code></h2><p>{words}</p><table>{table}</table></section>"
    )


def _meaning(parameter: dict[str, Any]) -> str:
    schema = parameter.get("schema", {})
    parts = [parameter.get("description", "")]
    parts += [f"{name} {schema[name]}" for name in ("default", "minimum", "maximum", "pattern") if name in schema]
    return escape("; ".join(part for part in parts if part)) + ("; required" if parameter.get("required") else "")
