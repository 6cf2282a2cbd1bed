"""``certiset tenant``: lists tenants, sets their quotas, takes out or erases everything of one."""

import argparse
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from certiset.core.jobs.tenant_erasure import erase_tenant
from certiset.core.jobs.tenant_export import export_tenant
from certiset.core.jobs.views import usage_resource
from certiset.core.store import Store
from certiset.core.store.quotas import NAMES
from certiset.service.cli.deployment import add_home, existing_store, read_settings
from certiset.service.cli.errors import CommandError, written_to
from certiset.service.cli.output import print_json
from certiset.service.cli.parsers import add_actions, add_command
from certiset.service.cli.usage import usage_lines

_EXAMPLES = """examples:
  certiset tenant list
  certiset tenant quota radiology --bytes 1000000000 --running-jobs 2
  certiset tenant quota radiology --bytes default
  certiset tenant export radiology radiology.zip
  certiset tenant erase radiology

exit codes: 0 done, 1 exported, but some files are damaged, 2 bad input, or the database cannot be reached
"""
_DEFAULT = "default"


def register(subparsers: Any) -> None:
    parser = add_command(subparsers, "tenant", "Tenants, read from the database: for operators.", _EXAMPLES)
    actions = add_actions(parser)
    _add(actions, "list", "list all tenants with what they have", _list)
    quota = _add(actions, "quota", "show a tenant's quotas, or change them", _quota)
    export = _add(actions, "export", "write everything of a tenant to a .zip file", _export)
    erase = _add(actions, "erase", "remove everything of a tenant, certificates and keys included", _erase)
    for child in (quota, export, erase):
        child.add_argument("name", metavar="NAME", help="the tenant")
    for name in NAMES:
        words = name.replace("_", " ")
        quota.add_argument(
            f"--{name.replace('_', '-')}",
            type=_limit,
            metavar="N",
            help=f"largest number of {words}; 0: no limit; {_DEFAULT}: that of the settings",
        )
    export.add_argument("file", type=Path, metavar="FILE", help="where to write it")
    erase.add_argument("--yes", action="store_true", help="do not ask")


def _add(actions: Any, name: str, sentence: str, act: Callable[[argparse.Namespace, Store], int]) -> Any:
    child = actions.add_parser(name, help=sentence, description=sentence.capitalize() + ".")
    add_home(child)
    child.add_argument("--json", action="store_true", help="print JSON")

    def run(options: argparse.Namespace) -> int:
        with existing_store(read_settings(options)) as store:
            return act(options, store)

    child.set_defaults(run=run)
    return child


def _limit(text: str) -> int | str:
    if text == _DEFAULT:
        return text
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"must be a whole number or {_DEFAULT}, not {text!r}")
    return int(text)


def _list(options: argparse.Namespace, store: Store) -> int:
    with store.reading() as work:
        found = {name: asdict(work.tenants.usage(name)) for name in work.tenants.names()}
    if options.json:
        print_json([{"tenant": name, **used} for name, used in found.items()])
        return 0
    for name, used in found.items():
        print(f"{name:<20}  " + "  ".join(f"{amount:,} {kind.replace('_', ' ')}" for kind, amount in used.items()))
    if not found:
        print("There are no tenants.")
    return 0


def _quota(options: argparse.Namespace, store: Store) -> int:
    given = {name: getattr(options, name) for name in NAMES if getattr(options, name) is not None}
    with store.writing() as work:
        if options.name not in work.tenants.names():
            raise CommandError(f"There is no tenant {options.name}: create a key for it first.")
        if given:
            changes = {k: None if v == _DEFAULT else v for k, v in given.items()}
            work.tenants.set_quotas(options.name, changes)
            work.audit.add("tenant.quota", options.name, "tenant", options.name, details=changes)
        usage = usage_resource(options.name, work.tenants.usage(options.name), work.tenants.allowed(options.name))
    shown = usage.model_dump()
    print_json(shown) if options.json else print(f"tenant {options.name}\n{usage_lines(shown, shown['limits'])}")
    return 0


def _export(options: argparse.Namespace, store: Store) -> int:
    with written_to(options.file):
        exported = export_tenant(store, options.name, options.file)
    if options.json:
        print_json({**asdict(exported), "file": str(options.file)})
    else:
        total = sum(exported.records.values())
        print(f"{total:,} records and {exported.artifacts:,} files of {options.name} are in {options.file}.")
        for name in exported.damaged:
            print(f"File {name} is missing or damaged.", file=sys.stderr)
    return 1 if exported.damaged else 0


def _erase(options: argparse.Namespace, store: Store) -> int:
    if not options.yes:
        if not sys.stdin.isatty():
            raise CommandError(f"This would remove everything of {options.name} for good: add --yes to do so.")
        print(f"Everything of {options.name} will be removed for good, certificates included. Type its name: ", end="")
        if input().strip() != options.name:
            raise CommandError("Nothing was removed.")
    erased = erase_tenant(store, options.name)
    if options.json:
        print_json(asdict(erased))
    else:
        later = f" {erased.left_to_collect:,} more are shared, or are collected soon." if erased.left_to_collect else ""
        print(f"{erased.records:,} records and {erased.artifacts:,} files of {options.name} were removed.{later}")
    return 0
