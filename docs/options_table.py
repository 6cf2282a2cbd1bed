"""Writes the tables of options in docs/choosing.md from their one definition: ``python docs/options_table.py``."""

import json
import sys
from pathlib import Path
from typing import Any

from certiset.core.fit.combinations import as_table
from certiset.core.fit.options import FitOptions
from certiset.core.scores import DEFAULT_SCORES, SCORES

PAGE = Path(__file__).parent / "choosing.md"
PARTS = ("combinations", "options")
_LIMITS = {"exclusiveMinimum": "above", "minimum": "at least", "exclusiveMaximum": "below", "maximum": "at most"}


def tables() -> str:
    schema = FitOptions.model_json_schema()
    parts = [_options("", schema)]
    for name in ("prior", "optimizer"):
        section = schema["$defs"][schema["properties"][name]["$ref"].rsplit("/", 1)[1]]
        parts.append(f"`{name}`: {section['description']}\n\n{_options(f'{name}.', section)}")
    parts.append("`score`: by its name, or as an object with its `kind` and its options.\n\n" + _scores())
    return "\n\n".join(parts)


def page() -> str:
    """The page with its tables as they should be."""
    text = PAGE.read_text()
    for name, content in zip(PARTS, (as_table(), tables()), strict=True):
        begin, end = f"<!-- {name}: written by docs/options_table.py -->", f"<!-- end of {name} -->"
        before, _, rest = text.partition(begin)
        text = f"{before}{begin}\n\n{content}\n\n{end}{rest.partition(end)[2]}"
    return text


def _options(prefix: str, schema: dict[str, Any]) -> str:
    rows = ["| option | default | values | meaning |", "|---|---|---|---|"]
    for name, field in schema["properties"].items():
        if "$ref" not in field and name != "score":
            default = "" if field.get("default") is None else f"`{json.dumps(field['default'])}`"
            rows.append(f"| `{prefix}{name}` | {default} | {_values(field)} | {field['description']} |")
    return "\n".join(rows)


def _scores() -> str:
    rows = ["| score | task | sets | options | the score of y |", "|---|---|---|---|---|"]
    for kind in SCORES.values():
        options = ", ".join(
            f"`{name}` ({field.default}): {field.description}" for name, field in kind.model_fields.items()
        )
        default = " (default)" if kind.kind in DEFAULT_SCORES.values() else ""
        meaning = " ".join((kind.__doc__ or "").split("\n\n")[0].split()).replace("|", r"\|")
        rows.append(f"| `{kind.kind}`{default} | {kind.task} | {kind.sets.kind} | {options} | {meaning} |")
    return "\n".join(rows)


def _values(field: dict[str, Any]) -> str:
    if "anyOf" in field:
        return " or ".join(_values(part) for part in field["anyOf"] if part.get("type") != "null")
    if "const" in field:
        return f"`{field['const']}`"
    if "enum" in field:
        return ", ".join(f"`{value}`" for value in field["enum"])
    if field.get("type") == "array":
        return f"list of: {_values(field['items'])}"
    limits = [f"{words} {field[name]:,}" for name, words in _LIMITS.items() if name in field]
    kind = {"integer": "whole number", "boolean": "true or false", "string": "text"}.get(field["type"], field["type"])
    return ", ".join([kind, *limits])


if __name__ == "__main__":
    if "--check" in sys.argv:
        sys.exit(PAGE.read_text() != page() and "docs/choosing.md is out of date: run python docs/options_table.py")
    PAGE.write_text(page())
