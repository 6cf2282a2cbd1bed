"""The deployment that a command is about: the environment's, or the one below ``--home``."""

import argparse
import os
from dataclasses import replace
from pathlib import Path

from core.errors import CertisetError, first_line
from core.settings import Settings
from core.store import Store
from core.store.errors import TRANSIENT
from service.commands.errors import CommandError


def add_home(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--home", type=Path, metavar="DIR", help="folder of the embedded state (default CERTISET_HOME, or ./var)"
    )


def read_settings(options: argparse.Namespace) -> Settings:
    try:
        settings = Settings.from_environment(os.environ)
    except CertisetError as error:
        raise CommandError(str(error)) from None
    return replace(settings, home=options.home) if options.home is not None else settings


def open_store(settings: Settings) -> Store:
    try:
        return Store.ready(settings)
    except CertisetError as error:
        raise CommandError(str(error)) from None
    except TRANSIENT as error:
        raise CommandError(f"The database cannot be reached: {first_line(error)}") from None
    except OSError as error:
        raise CommandError(f"{error.filename or settings.home} cannot be used: {error.strerror}.") from None


def open_existing_store(settings: Settings) -> Store:
    """For commands that look at what is there: in a folder with nothing in it they make nothing."""
    file = settings.embedded_file
    if file is not None and not file.exists():
        raise CommandError(
            f"There is no certiset in {settings.home}: name its folder with --home, or start one with 'certiset up'."
        )
    return open_store(settings)
