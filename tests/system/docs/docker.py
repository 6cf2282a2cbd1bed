"""A docker that does nothing but say whether it could: every file, service, option and command must exist."""

import argparse
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from certiset.service.cli.main import build_parser
from tests.system.containers.files import compose, dockerfile, filled

_DATABASE_PROGRAMS = ("pg_dump", "pg_restore", "psql")


def main(arguments: Sequence[str]) -> None:
    match list(arguments):
        case ["build", *rest]:
            _build(rest)
        case ["compose", *rest]:
            _compose(rest)
        case _:
            _refuse(f"docker {' '.join(arguments)}")


def _build(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser("docker build")
    parser.add_argument("-t", "--tag")
    parser.add_argument("--build-arg", action="append", default=[])
    parser.add_argument("path", type=Path)
    options = parser.parse_args(arguments)
    known = {i.text.split("=")[0] for i in dockerfile() if i.name == "ARG"}
    for given in options.build_arg:
        if given.split("=")[0] not in known:
            _refuse(f"build argument {given}")
    if not (options.path / "Dockerfile").exists():
        _refuse(f"no Dockerfile in {options.path}")


def _compose(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser("docker compose")
    parser.add_argument("-f", "--file", action="append")
    actions = parser.add_subparsers(dest="action", required=True)
    up = actions.add_parser("up")
    up.add_argument("-d", "--detach", action="store_true")
    up.add_argument("--build", action="store_true")
    up.add_argument("--scale", action="append", default=[])
    logs = actions.add_parser("logs")
    logs.add_argument("-f", "--follow", action="store_true")
    logs.add_argument("--tail")
    several = [up, logs, *(actions.add_parser(name) for name in ("build", "ps", "restart", "stop", "start", "down"))]
    for child in several:
        child.add_argument("services", nargs="*", default=[])
    for name in ("exec", "run"):
        child = actions.add_parser(name)
        child.add_argument("-T", "--no-TTY", action="store_true")
        if name == "run":
            child.add_argument("--rm", action="store_true")
            child.add_argument("--no-deps", action="store_true")
            child.add_argument("--entrypoint")
        child.add_argument("service")
        child.add_argument("words", nargs=argparse.REMAINDER)
    options = parser.parse_args(arguments)
    files = options.file or ["docker-compose.yml"]
    for file in files:
        if not Path(file).exists():
            _refuse(f"no file {file}")
    content = filled(compose(*files), _variables())
    for secret in content.get("secrets", {}).values():
        if not Path(secret["file"]).exists():
            _refuse(f"no file {secret['file']}")
    services = content["services"]
    named = [*getattr(options, "services", []), *(scale.split("=")[0] for scale in getattr(options, "scale", []))]
    for service in [*named, *([options.service] if hasattr(options, "service") else [])]:
        if service not in services:
            _refuse(f"no service {service}")
    if hasattr(options, "service"):
        _command(services, options)


def _command(services: dict[str, Any], options: argparse.Namespace) -> None:
    service, words = services[options.service], list(options.words)
    if options.action == "run":
        words = [options.entrypoint or "certiset", *words]
    program, *rest = words
    if options.service in ("api", "worker", "migrate"):
        if program == "certiset":
            build_parser(rest).parse_args(rest)
            return
        home = service["volumes"][0].split(":")[1]
        if program == "tar" and rest[rest.index("-C") + 1] == home:
            return
    if options.service == "postgres" and program in _DATABASE_PROGRAMS:
        user, database = (service["environment"][name] for name in ("POSTGRES_USER", "POSTGRES_DB"))
        if f"--username={user}" in rest and (f"--dbname={database}" in rest or rest[-1] == database):
            return
    _refuse(f"{options.action} {options.service}: {' '.join(words)}")


def _variables() -> dict[str, str]:
    """The environment's, over those of .env."""
    file = Path(".env")
    lines = file.read_text().splitlines() if file.exists() else []
    written = {match[1]: match[2] for line in lines if (match := re.fullmatch(r"([A-Z_]+)=(.*)", line))}
    return {**written, **os.environ}


def _refuse(what: str) -> NoReturn:
    raise SystemExit(f"docker here does not know: {what}")
