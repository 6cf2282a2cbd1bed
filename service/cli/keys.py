"""``certiset keys``: creates, lists and revokes API keys."""

import argparse
import json
import re
from typing import Any

from certiset.core.jobs.views import instant
from certiset.core.store import Store
from certiset.core.store.keys import SCOPES
from certiset.core.store.records import ApiKey
from certiset.service.cli.deployment import add_home, existing_store, opened_store, read_settings
from certiset.service.cli.errors import CommandError
from certiset.service.cli.output import View
from certiset.service.cli.parsers import add_actions, add_command
from certiset.service.http.access.keys import DEFAULT_TENANT, KeyRing
from certiset.service.http.access.secret import derive, read_secret

_EXAMPLES = """examples:
  certiset keys create --name dashboard --scopes read
  certiset keys create --name pipeline --scopes read,write --tenant radiology
  certiset keys list
  certiset keys revoke key-01jd...

An admin may do everything in its tenant, an operator reads metrics and the audit log of all tenants, but no data.
A key is shown once, when it is created; it cannot be recovered from what is stored. Records belong to the key's tenant.

exit codes: 0 done, 2 bad input, or the database cannot be reached
"""


def register(subparsers: Any) -> None:
    parser = add_command(subparsers, "keys", "API keys: who may read, write and administer.", _EXAMPLES)
    actions = add_actions(parser)
    create = actions.add_parser("create", help="create a key and print it")
    create.add_argument("--name", default="", help="what it is for")
    create.add_argument(
        "--scopes", default="read,write", help="comma-separated: read, write, admin, operator (default read,write)"
    )
    create.add_argument(
        "--tenant", default=DEFAULT_TENANT, help=f"tenant whose records it can access (default {DEFAULT_TENANT})"
    )
    listing = actions.add_parser("list", help="list all keys, without their secrets")
    revoke = actions.add_parser("revoke", help="revoke a key")
    revoke.add_argument("id", metavar="ID", help="the key's id")
    for child, action in ((create, _create), (listing, _list), (revoke, _revoke)):
        add_home(child)
        child.add_argument("--json", action="store_true", help="print JSON")
        child.set_defaults(run=run, act=action)


def run(options: argparse.Namespace) -> int:
    settings = read_settings(options)
    with opened_store(settings) if options.act is _create else existing_store(settings) as store:
        options.act(options, store)
    return 0


def _create(options: argparse.Namespace, store: Store) -> None:
    scopes = [scope.strip() for scope in options.scopes.split(",") if scope.strip()]
    wrong = [scope for scope in scopes if scope not in SCOPES]
    if wrong or not scopes:
        raise CommandError(f"--scopes must be from {', '.join(SCOPES)}, not {wrong[0] if wrong else 'empty'!r}.")
    if not re.fullmatch(r"[A-Za-z0-9._-]{1,64}", options.tenant):
        raise CommandError("--tenant must have 1 to 64 letters, digits, dots, dashes or underscores.")
    ring = KeyRing(store, derive(read_secret(store.settings.secret), "api keys"))
    record, key = ring.create(tenant=options.tenant, name=options.name[:200], scopes=scopes)
    if options.json:
        print(json.dumps({"id": record.id, "key": key, "tenant": record.tenant, "scopes": scopes}))
    else:
        print(key)


def _list(options: argparse.Namespace, store: Store) -> None:
    with store.reading() as work:
        found = work.keys.list()
    _VIEW.print_list(found, options)


def _revoke(options: argparse.Namespace, store: Store) -> None:
    with store.writing() as work:
        tenant = work.keys.revoke(options.id)
        work.audit.add("key.revoke", tenant, "key", options.id)
    print(json.dumps({"revoked": options.id}) if options.json else f"{options.id} was revoked.")


def _line(key: ApiKey) -> str:
    state = f"revoked {instant(key.revoked_at)}" if key.revoked_at else ",".join(key.scopes)
    return f"{key.id}  {key.tenant:<12}  {state:<18}  {key.name}"


def _to_json(key: ApiKey) -> dict[str, Any]:
    known = {name: getattr(key, name) for name in ("id", "name", "tenant", "scopes")}
    return known | {"revoked": key.revoked_at is not None}


_VIEW = View("keys", _line, _to_json)
