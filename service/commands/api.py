"""``certiset api``: the HTTP service in the foreground."""

import argparse
from typing import Any

from core.errors import CertisetError
from service.commands.addresses import is_local, port_number, require_free
from service.commands.errors import CommandError
from service.commands.settings import add_home, open_store, read_settings

_EXAMPLES = """examples:
  certiset api
  CERTISET_DATABASE_URL=postgresql://... CERTISET_BROKER_URL=redis://... certiset api --host 0.0.0.0

exit codes: 0 stopped, 2 bad input
"""


def register(subparsers: Any) -> None:
    parser = subparsers.add_parser(
        "api",
        description="Serves HTTP. On the embedded default, bound to this machine, the first start makes a key, prints "
        "it and keeps it in HOME/key; otherwise make keys with 'certiset keys create'.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_home(parser)
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default 127.0.0.1)")
    parser.add_argument("--port", type=port_number, default=8000, help="port to listen on (default 8000)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    import uvicorn  # noqa: PLC0415 (torch and FastAPI load only for the command that serves)

    from service.access.first_key import make_first_key  # noqa: PLC0415
    from service.app import create_app  # noqa: PLC0415
    from service.request_log import log_as_json  # noqa: PLC0415

    settings = read_settings(options)
    require_free(options.host, options.port)
    store = open_store(settings)
    try:
        if settings.embedded_database and is_local(options.host):
            key = make_first_key(settings, store)
            if key is not None:
                print(f"The first key, also in {settings.home / 'key'}: {key}", flush=True)
        app = create_app(settings)
    except CertisetError as error:
        raise CommandError(str(error)) from None
    finally:
        store.close()
    log_as_json()
    uvicorn.run(
        app,
        host=options.host,
        port=options.port,
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=10,
    )
    return 0
