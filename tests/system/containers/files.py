"""The container files as values: the Dockerfile's instructions, the Compose files, and what Compose makes of two."""

import json
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

ROOT = Path(__file__).parents[3]
_APPENDED = {"ports", "volumes", "networks", "cap_add", "cap_drop", "security_opt", "tmpfs", "devices"}
"""lists that Compose joins; all others of the later file replace those of the earlier one"""


@dataclass(frozen=True)
class Instruction:
    name: str
    text: str
    """with continued lines joined, as Docker does, and without the flags of the instruction itself"""
    stage: int

    @property
    def words(self) -> list[str]:
        """Of the exec form, or of the shell form."""
        if self.text.startswith("["):
            return [str(word) for word in json.loads(self.text)]
        return shlex.split(self.text)


def dockerfile() -> list[Instruction]:
    lines = [line for line in (ROOT / "Dockerfile").read_text().splitlines() if not line.lstrip().startswith("#")]
    found, stage = [], -1
    for block in re.split(r"(?<!\\)\n", "\n".join(lines)):
        if not block.strip():
            continue
        name, _, rest = block.partition(" ")
        stage += name == "FROM"
        text = re.sub(r"^(?:\s*(?:\\\n)?\s*--(?:mount|from|interval|timeout|start-period|retries)=\S+)+", "", rest)
        found.append(Instruction(name, text.replace("\\\n", "").strip(), stage))
    return found


def compose(*names: str) -> dict[str, Any]:
    """The files merged, with anchors resolved and variables as they stand."""
    merged: dict[str, Any] = {}
    for name in names or ("docker-compose.yml",):
        loaded = YAML(typ="safe").load(ROOT / name)
        merged = _merged(merged, loaded)
    return merged


def _merged(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    answer = dict(first)
    for key, value in second.items():
        old = answer.get(key)
        if isinstance(old, Mapping) and isinstance(value, Mapping):
            answer[key] = _merged(old, value)
        elif isinstance(old, list) and isinstance(value, list) and key in _APPENDED:
            answer[key] = [*old, *value]
        else:
            answer[key] = value
    return answer


def filled(value: Any, variables: Mapping[str, str]) -> Any:
    """With ``${NAME}``, ``${NAME:-default}`` and ``${NAME:?message}`` replaced as Compose would."""
    if isinstance(value, Mapping):
        return {key: filled(inner, variables) for key, inner in value.items()}
    if isinstance(value, list):
        return [filled(inner, variables) for inner in value]
    if not isinstance(value, str):
        return value

    def replace(match: re.Match[str]) -> str:
        name, sign, rest = match[1], match[2], match[3]
        if variables.get(name):
            return variables[name]
        if sign == ":-":
            return rest
        raise KeyError(f"{name}: {rest}")

    return re.sub(r"\$\{(\w+)(?:(:[-?])([^}]*))?\}", replace, value)


def variables(value: Any) -> dict[str, set[str]]:
    """Every variable that is interpolated, with the signs behind it."""
    found: dict[str, set[str]] = {}
    for name, sign in re.findall(r"\$\{(\w+)(:[-?]|)", json.dumps(value)):
        found.setdefault(name, set()).add(sign)
    return found
