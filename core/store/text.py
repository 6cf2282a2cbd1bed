"""Text that every database takes: PostgreSQL refuses NUL, and no encoding has lone surrogates."""


def printable(text: str, longest: int = 2000) -> str:
    """Without what cannot be stored or shown, and not longer than that."""
    cleaned = "".join(letter if letter.isprintable() else " " for letter in text[: longest + 1])
    return cleaned if len(cleaned) <= longest else cleaned[: longest - 3] + "..."
