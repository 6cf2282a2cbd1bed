"""Parsers of commands, all of one form: a description, and examples that are printed as they are written."""

import argparse
from collections.abc import Mapping
from typing import Any


def add_command(subparsers: Any, name: str, description: str, examples: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = subparsers.add_parser(
        name, description=description, epilog=examples, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    return parser


def add_actions(parser: argparse.ArgumentParser, parser_class: type[argparse.ArgumentParser] | None = None) -> Any:
    """For a command whose first word says what to do, such as ``certiset jobs list``."""
    return parser.add_subparsers(
        dest="action", metavar="ACTION", required=True, parser_class=parser_class or type(parser)
    )


def described(sentences: Mapping[str, str]) -> str:
    """Names with what they stand for, one per line, for the end of a help text."""
    width = max(map(len, sentences))
    return "".join(f"  {name:<{width}}  {sentence}\n" for name, sentence in sentences.items())
