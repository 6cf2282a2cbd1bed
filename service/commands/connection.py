"""What all commands share that speak to a server: its address, the key, and what happens when it says no."""

import argparse
import contextlib
import json
from collections.abc import Callable, Iterator
from typing import Any

from service.client import ApiError, Client, ClientError, UnreachableError
from service.commands.errors import NO_SERVER, CommandError

EXIT_CODES = "exit codes: 0 done, 2 bad input or refused by the server, 3 the server cannot be reached"


def add_connection(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--url", metavar="URL", help="the server (default CERTISET_URL, or http://127.0.0.1:8000 on this machine)"
    )
    parser.add_argument(
        "--key", metavar="KEY", help="API key (default CERTISET_KEY; for a server on this machine, CERTISET_HOME/key)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def add_action(
    actions: Any, name: str, sentence: str, act: Callable[[argparse.Namespace, Client], int]
) -> argparse.ArgumentParser:
    """A command below a command, such as ``certiset datasets list``."""
    child: argparse.ArgumentParser = actions.add_parser(
        name, help=sentence, description=sentence[0].upper() + sentence[1:] + ".", epilog=EXIT_CODES
    )
    add_connection(child)
    child.set_defaults(run=connected(act))
    return child


def connected(act: Callable[[argparse.Namespace, Client], int]) -> Callable[[argparse.Namespace], int]:
    """The command's run, with a client and with the server's refusals as sentences."""

    def run(options: argparse.Namespace) -> int:
        with explained(), Client(options.url, options.key) as client:
            return act(options, client)

    return run


@contextlib.contextmanager
def explained() -> Iterator[None]:
    try:
        yield
    except ApiError as error:
        hint = " Here: --key KEY, or CERTISET_KEY in the environment." if error.status == 401 else ""
        raise CommandError(f"{error}{hint}") from None
    except UnreachableError as error:
        raise CommandError(str(error), NO_SERVER) from None
    except ClientError as error:
        raise CommandError(str(error)) from None
    except OSError as error:
        if error.filename is None:
            raise
        raise CommandError(f"{error.filename} cannot be read: {error.strerror}.") from None


def print_json(content: Any) -> None:
    print(json.dumps(content, indent=2))


def print_fields(content: dict[str, Any]) -> None:
    """One field a line."""
    width = max(len(name) for name in content)
    for name, value in content.items():
        if value is not None:
            print(f"{name:<{width}}  {json.dumps(value) if isinstance(value, dict | list | tuple) else value}")
