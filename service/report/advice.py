"""What to do about a caveat, in the words of the page, so that paper and page say the same."""

import json
from functools import cache
from pathlib import Path

_WORDS = Path(__file__).parents[1] / "static" / "advice.js"


def with_advice(message: str, code: str) -> str:
    advice = advice_by_code().get(code)
    return message if advice is None else f"{message} What to do: {advice}"


@cache
def advice_by_code() -> dict[str, str]:
    text = _WORDS.read_text(encoding="utf-8")
    found: dict[str, str] = json.loads(text[text.index("{") : text.rindex("}") + 1])
    return found
