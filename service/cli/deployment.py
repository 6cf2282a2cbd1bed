"""The deployment that a command works on: the environment's, or the one in ``--home``."""

import argparse
import contextlib
import getpass
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from certiset.core.errors import DatabaseUnavailableError
from certiset.core.settings import Settings
from certiset.core.store import Store
from certiset.core.store.audit import Actor
from certiset.core.store.errors import driver_message
from certiset.service.cli.errors import CommandError
from certiset.service.client.defaults import is_local
from certiset.service.http.access.first_key import make_first_key


def add_home(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--home", type=Path, metavar="DIR", help="folder of the embedded state (default CERTISET_HOME, or ./var)"
    )


def read_settings(options: argparse.Namespace) -> Settings:
    settings = Settings.from_environment(os.environ)
    return replace(settings, home=options.home) if options.home is not None else settings


@contextlib.contextmanager
def opened_store(settings: Settings) -> Iterator[Store]:
    """The store of a deployment, which is created if it does not exist."""
    with explained_database():
        try:
            store = Store.ready(settings).acting_for(Actor(user=_user()))
        except OSError as error:
            raise CommandError(f"{error.filename or settings.home} cannot be used: {error.strerror}.") from None
        try:
            yield store
        finally:
            store.close()


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        # In a container a process may run under a number that no account has.
        return f"uid {os.getuid()}"


@contextlib.contextmanager
def existing_store(settings: Settings) -> Iterator[Store]:
    """For commands that only inspect a deployment: they do not create one in an empty folder."""
    file = settings.embedded_file
    if file is not None and not file.exists():
        raise CommandError(
            f"There is no certiset deployment in {settings.home}: name its folder with --home, or start one with "
            "'certiset up'."
        )
    with opened_store(settings) as store:
        yield store


@contextlib.contextmanager
def explained_database() -> Iterator[None]:
    """Operators may see what the driver says, which users of the API must not."""
    try:
        yield
    except DatabaseUnavailableError as error:
        raise CommandError(f"The database cannot be reached: {driver_message(error)}") from None


def prepare(settings: Settings, host: str) -> bool:
    """Migrates the embedded database and creates and prints the first key; returns whether one was created.

    No key is created for a server that others can reach, or for a database that others may share.
    """
    with opened_store(settings) as store:
        key = make_first_key(settings, store) if settings.embedded_database and is_local(host) else None
    if key is not None:
        print(f"The first key, also in {settings.home / 'key'}: {key}", flush=True)
    return key is not None
