"""Shared by all commands that talk to a server: its address, the key, and errors as sentences."""

import argparse
import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, TypeVar

from certiset.service.cli.errors import NO_SERVER, CommandError, read_from
from certiset.service.cli.output import View, print_json
from certiset.service.client import ApiError, Client, ClientError, UnreachableError

EXIT_CODES = "exit codes: 0 done, 2 bad input or refused by the server, 3 the server cannot be reached"

Action = Callable[[argparse.Namespace, Client], int]
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Collection(Protocol[T_co]):
    """Such as ``client.datasets``."""

    @property
    def list(self) -> Callable[..., Iterator[T_co]]: ...

    def get(self, id: str) -> T_co: ...


class DeletableCollection(Collection[T_co], Protocol[T_co]):
    def delete(self, id: str) -> None: ...


def add_connection(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--url", metavar="URL", help="the server (default CERTISET_URL, or http://127.0.0.1:8000 on this machine)"
    )
    parser.add_argument(
        "--key", metavar="KEY", help="API key (default CERTISET_KEY; for a server on this machine, CERTISET_HOME/key)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def add_action(actions: Any, name: str, sentence: str, act: Action) -> argparse.ArgumentParser:
    """A subcommand of a command, such as ``certiset datasets upload``."""
    child: argparse.ArgumentParser = actions.add_parser(
        name, help=sentence, description=sentence[0].upper() + sentence[1:] + ".", epilog=EXIT_CODES
    )
    add_connection(child)
    child.set_defaults(run=connected(act))
    return child


def add_list(
    actions: Any, view: View[T], collection: Callable[[Client], Collection[T]], filters: Sequence[str] = ()
) -> argparse.ArgumentParser:
    """``filters`` are options of the command, and arguments of the collection's list, with the same names."""

    def act(options: argparse.Namespace, client: Client) -> int:
        chosen = {name: getattr(options, name) for name in filters}
        return view.print_list(collection(client).list(**chosen), options)

    return add_action(actions, "list", "list all of them, newest first", act)


def add_show(
    actions: Any, view: View[T], collection: Callable[[Client], Collection[T]], sentence: str = "show one in full"
) -> argparse.ArgumentParser:
    def act(options: argparse.Namespace, client: Client) -> int:
        return view.print_one(collection(client).get(options.id), options)

    child = add_action(actions, "show", sentence, act)
    child.add_argument("id", metavar="ID", help="its id")
    return child


def add_records(
    actions: Any, view: View[T], collection: Callable[[Client], DeletableCollection[T]], deleting: str
) -> None:
    """``list``, ``show`` and ``delete``; ``deleting`` says what becomes of a record that is deleted."""

    def act(options: argparse.Namespace, client: Client) -> int:
        collection(client).delete(options.id)
        print_json({"deleted": options.id}) if options.json else print(f"{options.id} was deleted.")
        return 0

    add_list(actions, view, collection)
    add_show(actions, view, collection)
    add_action(actions, "delete", deleting, act).add_argument("id", metavar="ID", help="its id")


def connected(act: Action) -> Callable[[argparse.Namespace], int]:
    """The command's ``run``, with a client, and with the server's refusals as error messages."""

    def run(options: argparse.Namespace) -> int:
        with explained(), Client(options.url, options.key) as client:
            return act(options, client)

    return run


@contextlib.contextmanager
def explained() -> Iterator[None]:
    try:
        with read_from():
            yield
    except ApiError as error:
        hint = " Use --key KEY, or set CERTISET_KEY." if error.status == 401 else ""
        raise CommandError(f"{error}{hint}") from None
    except UnreachableError as error:
        raise CommandError(str(error), NO_SERVER) from None
    except ClientError as error:
        raise CommandError(str(error)) from None
