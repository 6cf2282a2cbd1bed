"""What a check has found."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

State: TypeAlias = Literal["ok", "warning", "failed"]


@dataclass(frozen=True)
class Finding:
    check: str
    state: State
    message: str
    """what was found and, unless it is fine, what to do"""
