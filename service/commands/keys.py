"""``certiset keys``: API keys, made, listed and revoked."""

import argparse
import json
import re
from typing import Any

from core.errors import CertisetError
from core.store import Store
from core.store.keys import SCOPES
from service.access.keys import DEFAULT_TENANT, KeyRing
from service.access.secret import derive, read_secret
from service.commands.errors import CommandError
from service.commands.settings import add_home, open_existing_store, open_store, read_settings
from service.shapes import instant

_EXAMPLES = """examples:
  certiset keys create --name dashboard --scopes read
  certiset keys create --name pipeline --scopes read,write --tenant radiology
  certiset keys list
  certiset keys revoke key-01jd...

A key is shown once, when it is made; what is stored cannot be turned back into it. Records belong to the key's tenant.

exit codes: 0 done, 2 bad input, or the database cannot be reached
"""


def register(subparsers: Any) -> None:
    parser = subparsers.add_parser(
        "keys",
        description="API keys: who may read, write and administer.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    create = actions.add_parser("create", help="make a key and print it")
    create.add_argument("--name", default="", help="what it is for")
    create.add_argument("--scopes", default="read,write", help="of read, write and admin, with commas")
    create.add_argument("--tenant", default=DEFAULT_TENANT, help=f"whose records it opens (default {DEFAULT_TENANT})")
    listing = actions.add_parser("list", help="all keys, without their secrets")
    revoke = actions.add_parser("revoke", help="refuse a key from now on")
    revoke.add_argument("id", metavar="ID", help="the key's id")
    for child, action in ((create, _create), (listing, _list), (revoke, _revoke)):
        add_home(child)
        child.add_argument("--json", action="store_true", help="print JSON")
        child.set_defaults(run=run, act=action)


def run(options: argparse.Namespace) -> int:
    settings = read_settings(options)
    store = open_store(settings) if options.act is _create else open_existing_store(settings)
    try:
        ring = KeyRing(store, derive(read_secret(settings.secret), "api keys"))
        options.act(options, store, ring)
    except CertisetError as error:
        raise CommandError(str(error)) from None
    finally:
        store.close()
    return 0


def _create(options: argparse.Namespace, store: Store, ring: KeyRing) -> None:
    scopes = [scope.strip() for scope in options.scopes.split(",") if scope.strip()]
    wrong = [scope for scope in scopes if scope not in SCOPES]
    if wrong or not scopes:
        raise CommandError(f"--scopes must be of {', '.join(SCOPES)}, not {wrong[0] if wrong else 'empty'!r}.")
    if not re.fullmatch(r"[A-Za-z0-9._-]{1,64}", options.tenant):
        raise CommandError("--tenant must have 1 to 64 letters, digits, dots, dashes or underscores.")
    record, key = ring.create(tenant=options.tenant, name=options.name[:200], scopes=scopes)
    if options.json:
        print(json.dumps({"id": record.id, "key": key, "tenant": record.tenant, "scopes": scopes}))
    else:
        print(key)


def _list(options: argparse.Namespace, store: Store, ring: KeyRing) -> None:
    with store.reading() as work:
        found = work.keys.list()
    if options.json:
        names = ("id", "name", "tenant", "scopes")
        print(
            json.dumps([{n: getattr(key, n) for n in names} | {"revoked": key.revoked_at is not None} for key in found])
        )
        return
    for key in found:
        state = f"revoked {instant(key.revoked_at)}" if key.revoked_at else ",".join(key.scopes)
        print(f"{key.id}  {key.tenant:<12}  {state:<18}  {key.name}".rstrip())
    if not found:
        print("There are no keys.")


def _revoke(options: argparse.Namespace, store: Store, ring: KeyRing) -> None:
    with store.writing() as work:
        work.keys.revoke(options.id)
    print(json.dumps({"revoked": options.id}) if options.json else f"{options.id} is revoked.")
