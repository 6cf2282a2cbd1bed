"""What FastAPI and pydantic find wrong with a request, in the words that callers in Python read."""

from collections.abc import Iterable, Sequence
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from certiset.core.errors import FieldError, OptionError
from certiset.core.validation import field_errors

_MOST = 20


def request_error(found: Sequence[Any], route: Any) -> OptionError:
    """From the errors of FastAPI's own validation; ``route`` knows the model of the body."""
    return _option_error(_of_request(error, _body(route)) for error in found)


def body_error(error: ValidationError, annotation: Any) -> OptionError:
    """From a body that a route has read by itself, as a model or one of several."""
    return _option_error(_of_whole_body(found, annotation) for found in error.errors(include_url=False))


def _option_error(found: Iterable[FieldError]) -> OptionError:
    errors: dict[str, FieldError] = {}
    for error in found:
        # Of a value that may have one of several types, each type that was tried is an error by itself.
        errors.setdefault(error.field, error)
        if len(errors) == _MOST:
            break
    first, *_ = errors.values()
    return OptionError(first.message, field=first.field, errors=list(errors.values()))


def _of_request(error: Any, body: Any) -> FieldError:
    place, *location = error["loc"]
    if place != "body":
        return field_errors([{**error, "loc": location[:1]}], None)[0]
    return _of_whole_body({**error, "loc": location}, body)


def _of_whole_body(error: Any, annotation: Any) -> FieldError:
    model, location = _model(annotation, list(error["loc"]))
    return _of_body(error, location, model)


def _of_body(error: Any, location: Sequence[Any], model: Any) -> FieldError:
    if not location or error["type"] == "json_invalid":
        return field_errors([{**error, "loc": []}], None, "body")[0]
    return field_errors([{**error, "loc": location}], model)[0]


def _body(route: Any) -> Any:
    """The annotation of a route's body, or None."""
    field = getattr(route, "body_field", None)
    return None if field is None else field.field_info.annotation


def _model(annotation: Any, location: list[Any]) -> tuple[Any, list[Any]]:
    """The model that was tried, and the place inside it: of a union, pydantic names the branch first."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation, location
    for choice in get_args(annotation):
        found, _ = _model(choice, location)
        if found is not None and location and location[0] == found.__name__:
            return found, location[1:]
    return None, location
