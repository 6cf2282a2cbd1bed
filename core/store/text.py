"""Text that every database accepts: PostgreSQL refuses NUL, and no encoding has lone surrogates."""


def printable(text: str, longest: int = 2000) -> str:
    """The text without characters that cannot be stored or shown, cut to ``longest`` characters."""
    cleaned = "".join(letter if letter.isprintable() else " " for letter in text[: longest + 1])
    return cleaned if len(cleaned) <= longest else cleaned[: longest - 3] + "..."
