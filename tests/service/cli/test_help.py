"""Every command says what it does, with examples, and prints JSON for programs."""

import re
from typing import Any

import certiset
from certiset.service.cli.main import COMMANDS, build_parser
from tests.service.cli.shell import Shell


def test_help_lists_every_command_with_a_sentence_and_examples(offline: Shell) -> None:
    text = offline("--help")
    for command in COMMANDS:
        assert re.search(rf"^    {command}\s+\w", text, flags=re.MULTILINE), command
    assert text.count("\n  certiset ") >= 2
    assert "exit codes: 0 done" in text
    for command in COMMANDS:
        of_command = subparsers_of(build_parser([command]))[command].format_help()
        assert "examples:\n  certiset " in of_command, command
        assert "exit codes: 0 " in of_command, command


def test_json_everywhere() -> None:
    without = {"up", "api", "worker"}
    """these stay in the foreground"""
    for command in COMMANDS:
        parser = build_parser([command])
        found = subparsers_of(subparsers_of(parser)[command]) or {"": subparsers_of(parser)[command]}
        for action, child in found.items():
            assert ("--json" in child.format_help()) != (command in without), f"{command} {action}"


def test_the_version_and_the_nearest_command(offline: Shell) -> None:
    assert offline("--version") == f"certiset {certiset.__version__}\n"
    assert "invalid choice: 'predictor'; did you mean 'predictors'?" in offline("predictor", "list", code=2)
    assert "invalid choice: 'lst'; did you mean 'list'?" in offline("predictors", "lst", code=2)


def subparsers_of(parser: Any) -> dict[str, Any]:
    found = [action.choices for action in parser._actions if action.__class__.__name__ == "_SubParsersAction"]
    return dict(found[0]) if found else {}
