"""The options of a fit as flags, generated from their one definition; defaults are left to the server."""

import argparse
import json
import re
import types
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from certiset.core.fit.options import FitOptions
from certiset.service.cli.errors import CommandError


def add_fit_flags(parser: argparse.ArgumentParser) -> None:
    """A flag for each option that is a number, a word or a switch, ``--score KIND``, and ``--set`` for all others."""
    group, fields = parser.add_argument_group("options of the fit"), FitOptions.model_fields
    for name, kind in _simple_fields().items():
        default = fields[name].default
        words = fields[name].description or ""
        if kind is not bool and default is not None:
            words += f" (default {default})"
        group.add_argument(f"--{name.replace('_', '-')}", help=words.replace("%", "%%"), **_reading(kind))
    group.add_argument("--score", metavar="KIND", help=fields["score"].description)
    group.add_argument("--groups", nargs="+", metavar="COLUMN", help=fields["groups"].description)
    group.add_argument("--group-list", nargs="+", metavar="VALUE", help=fields["group_list"].description)
    group.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="any other option, as JSON; a dot reaches into an object, as in prior.steps=500",
    )


def given_options(options: argparse.Namespace) -> dict[str, Any]:
    """The options that the user gave, as POST /calibrations takes them."""
    chosen = {name: getattr(options, name) for name in _simple_fields() if getattr(options, name) is not None}
    if options.score is not None:
        chosen["score"] = {"kind": options.score}
    if options.groups is not None:
        chosen["groups"] = options.groups if len(options.groups) > 1 else options.groups[0]
    if options.group_list is not None:
        chosen["group_list"] = options.group_list
    for setting in options.set:
        path, equals, text = setting.partition("=")
        if not equals or not re.fullmatch(r"\w+(\.\w+)?", path):
            raise CommandError(f"--set takes KEY=VALUE, such as prior.steps=500, not {setting!r}.")
        outer, _, inner = path.partition(".")
        if not inner:
            chosen[outer] = _value(text)
        elif isinstance(chosen.setdefault(outer, {}), dict):
            chosen[outer][inner] = _value(text)
        else:
            raise CommandError(f"--set {path}: {outer} was already given as a whole.")
    return chosen


def default_of(name: str) -> Any:
    """The default of an option that other commands share with a fit."""
    return FitOptions.model_fields[name].default


def _simple_fields() -> dict[str, Any]:
    """The options that are a single value, by name, each with float, int, str, bool or a Literal."""
    kinds = {name: _kind(field.annotation) for name, field in FitOptions.model_fields.items()}
    return {name: kind for name, kind in kinds.items() if kind is not None}


def _kind(annotation: Any) -> Any:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _kind(arguments[0])
    if origin in (Union, types.UnionType):
        inner = [argument for argument in arguments if argument is not type(None)]
        if len(inner) == 2 and _kind(inner[0]) is float and get_origin(inner[1]) is Literal:
            return annotation
        return _kind(inner[0]) if len(inner) == 1 else None
    return annotation if origin is Literal or annotation in (float, int, str, bool) else None


def _reading(kind: Any) -> dict[str, Any]:
    """How argparse reads it; an option not given is None, not its default."""
    if kind is bool:
        return {"action": "store_true", "default": None}
    if get_origin(kind) is Literal:
        return {"choices": get_args(kind)}
    if get_origin(kind) in (Union, types.UnionType):
        words = get_args(get_args(kind)[1])
        return {"type": lambda text: text if text in words else float(text), "metavar": f"NUMBER|{'|'.join(words)}"}
    return {"type": kind, "metavar": "TEXT" if kind is str else "NUMBER"}


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
