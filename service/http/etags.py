"""What a client has already: the tags of its If-None-Match header."""


def matches(if_none_match: str | None, etag: str) -> bool:
    """Whether the client named this tag, weakly or not, or has anything at all (*)."""
    if if_none_match is None:
        return False
    return if_none_match.strip() == "*" or etag in [tag.strip().removeprefix("W/") for tag in if_none_match.split(",")]
