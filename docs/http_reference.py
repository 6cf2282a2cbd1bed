"""Writes docs/http.md from the service's own OpenAPI document: ``python docs/http_reference.py > docs/http.md``."""

import re
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from certiset.core.settings import Settings
from certiset.service.http.app import create_app
from certiset.service.http.problems import codes

_HEAD = """# HTTP reference

Generated from the service's OpenAPI document by `docs/http_reference.py`; a test keeps it current. A running service
has the same at `/docs`, and the document itself at `/openapi.json`.

Send the key as `Authorization: Bearer KEY` or `X-API-Key: KEY`. Each call says which scope the key needs; `admin`
includes `read` and `write`. Records belong to the key's tenant, and those of other tenants are not found (404).

Lists come newest first, a page at a time: `next_cursor` of one page, as `cursor`, gives the next.

Errors are `application/problem+json` (RFC 9457, [Problem](#problem)): `detail` says in a sentence what is wrong,
`errors` in which field, and `code`, which never changes, what kind of error it is. Every call that needs a key may
answer 401, 403, 429, 500 and 503. The answer's `X-Request-ID`, which is the request's if it had one, is in the log.

| error | means |
|---|---|
{errors}

| code | status |
|---|---|
{codes}
"""
_LONGEST = 1e9
_PROBLEM = "application/problem+json"
_ALWAYS = {"401", "403", "429", "500", "503"}
_LIMITS = {"exclusiveMinimum": "above", "minimum": "at least", "exclusiveMaximum": "below", "maximum": "at most"}


def reference(document: dict[str, Any]) -> str:
    schemas = document["components"]["schemas"]
    lines = [_HEAD.format(errors=_errors(document), codes=_codes())]
    section = None
    operations = [(path, method, call) for path, calls in document["paths"].items() for method, call in calls.items()]
    for path, method, call in operations:
        if call["tags"][0] != section:
            section = call["tags"][0]
            lines += [f"## {section.replace('_', ' ')}", ""]
        lines += _operation(path, method, call)
    lines += ["## Objects", ""]
    for name in sorted(_used(document, schemas)):
        lines += [f"### {name}", "", *_sentences(schemas[name]), *_fields(schemas[name])]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip() + "\n"


def _errors(document: dict[str, Any]) -> str:
    found = {
        status: answer["description"]
        for calls in document["paths"].values()
        for call in calls.values()
        for status, answer in call["responses"].items()
        if _PROBLEM in answer.get("content", {})
    }
    return "\n".join(f"| {status} | {found[status]} |" for status in sorted(found))


def _codes() -> str:
    return "\n".join(
        f"| `{code}` | {status} |" for code, status in sorted(codes().items(), key=lambda entry: (entry[1], entry[0]))
    )


def _operation(path: str, method: str, call: dict[str, Any]) -> Iterator[str]:
    scopes = [scope for needed in call.get("security", []) for scope in needed["bearer"]]
    yield from (f"### {method.upper()} {path}", "", *_sentences(call))
    yield from (f"Scope: {' or '.join(scopes)}." if scopes else "Open to everybody.", "")
    given = [(p["name"], p["in"], p.get("required", False), p["schema"], p) for p in call.get("parameters", [])]
    if given:
        yield from ("| parameter | where | what |", "|---|---|---|")
        for name, where, required, schema, parameter in given:
            what = _what(schema, required, parameter.get("description", ""))
            yield f"| `{name}` | {where} | {what} |"
        yield ""
    for kind, part in call.get("requestBody", {}).get("content", {}).items():
        yield from (f"Body, `{kind}`: {_kind(part['schema'])}", "")
        yield from _fields(part["schema"])
    errors = [status for status, answer in call["responses"].items() if _PROBLEM in answer.get("content", {})]
    for status, answer in sorted(call["responses"].items()):
        if status not in errors:
            yield f"- {status}: {_answer(answer)}"
    own = sorted(set(errors) - _ALWAYS)
    yield from ([f"- errors: {', '.join(own)}", ""] if own else [""])


def _answer(answer: dict[str, Any]) -> str:
    parts = [answer["description"].rstrip(".").removesuffix("Successful Response")]
    for kind, part in answer.get("content", {}).items():
        schema = part.get("schema", {})
        parts.append(_kind(schema) if "$ref" in schema else f"`{kind}`" + _names(schema))
    return ", ".join(part for part in parts if part) or "done"


def _names(schema: dict[str, Any]) -> str:
    return f" with {', '.join(f'`{name}`' for name in schema['properties'])}" if schema.get("properties") else ""


def _fields(schema: dict[str, Any]) -> Iterator[str]:
    if schema.get("properties"):
        required = schema.get("required", [])
        yield from ("| field | what |", "|---|---|")
        # A model that extends another has its own fields last, and these may be the ones that must be given.
        for name, field in sorted(schema["properties"].items(), key=lambda entry: entry[0] not in required):
            yield f"| `{name}` | {_what(field, name in required, field.get('description', ''))} |"
        yield ""


def _what(schema: dict[str, Any], required: bool, description: str) -> str:
    default = schema.get("default")
    # The defaults of a section stand with its fields.
    ending = "" if required or default in (None, "") or isinstance(default, dict) else f"; default {_value(default)}"
    words = [_kind(schema) + ending, " ".join(description.split())]
    return ": ".join(word for word in words if word) + ("; required" if required else "")


def _kind(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[1]
        return f"[{name}](#{name.lower()})"
    for name in ("anyOf", "oneOf"):
        if name in schema:
            return " or ".join(dict.fromkeys(_kind(part) for part in schema[name] if part.get("type") != "null"))
    if "const" in schema:
        return _value(schema["const"])
    if "enum" in schema:
        return ", ".join(_value(value) for value in schema["enum"])
    if schema.get("type") == "array":
        entries = [_kind(entry) for entry in schema.get("prefixItems", [schema.get("items", {})])]
        return f"list of {' and '.join(dict.fromkeys(entries))}"
    return _simple(schema)


def _simple(schema: dict[str, Any]) -> str:
    if "const" in schema.get("properties", {}).get("kind", {}):
        name, *options = (_value(schema["properties"]["kind"]["const"]), *list(schema["properties"])[1:])
        return f"{name} (with {', '.join(map(_value, options))})" if options else name
    kinds = schema.get("type", "anything")
    words = " or ".join(kinds) if isinstance(kinds, list) else kinds
    if schema.get("format") == "binary":
        words = "file"
    limits = [f"{word} {_value(schema[name])}" for name, word in _LIMITS.items() if name in schema]
    return ", ".join([words, *limits])


def _value(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return f"{value}".lower()
    if isinstance(value, float):
        return f"{value:,.0f}" if value.is_integer() and value < _LONGEST else f"{value:g}"
    return f"{value:,}" if isinstance(value, int) else f"`{value}`"


def _sentences(holder: dict[str, Any]) -> list[str]:
    return [holder["description"].strip(), ""] if holder.get("description") else []


def _used(document: dict[str, Any], schemas: dict[str, Any]) -> set[str]:
    found: set[str] = set()
    waiting = list(_references(document["paths"]))
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += _references(schemas[name])
    return found


def _references(value: Any) -> Iterable[str]:
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"].rsplit("/", 1)[1]
        for inner in value.values():
            yield from _references(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _references(inner)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as home:
        print(reference(create_app(Settings(home=Path(home))).openapi()), end="")
