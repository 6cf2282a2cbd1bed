"""``certiset api``: the HTTP service in the foreground."""

import argparse
from typing import Any

from certiset.service.cli.addresses import add_address
from certiset.service.cli.deployment import add_home, prepare, read_settings
from certiset.service.cli.parsers import add_command
from certiset.service.processes import require_free

_EXAMPLES = """examples:
  certiset api
  CERTISET_DATABASE_URL=postgresql://... CERTISET_BROKER_URL=redis://... certiset api --host 0.0.0.0

exit codes: 0 stopped, 2 bad input
"""
_GRACE_SECONDS = 4
"""for requests that run when the process is asked to stop"""


def register(subparsers: Any) -> None:
    parser = add_command(
        subparsers,
        "api",
        "Serves HTTP. On the embedded default, bound to this machine, the first start creates a key, "
        "prints it and saves it in HOME/key; otherwise create keys with 'certiset keys create'.",
        _EXAMPLES,
    )
    add_home(parser)
    add_address(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    import uvicorn  # noqa: PLC0415 (torch and FastAPI load only for the command that serves)

    from certiset.service.http.app import create_app  # noqa: PLC0415
    from certiset.service.http.connections import IDLE_SECONDS, limited_protocol  # noqa: PLC0415
    from certiset.service.http.request_log import log_as_json  # noqa: PLC0415

    settings = read_settings(options)
    require_free(options.host, options.port)
    prepare(settings, options.host)
    app = create_app(settings)
    log_as_json()
    uvicorn.run(
        app,
        host=options.host,
        port=options.port,
        log_config=None,
        access_log=False,
        server_header=False,
        http=limited_protocol(settings),
        ws="none",
        timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=_GRACE_SECONDS,
    )
    return 0
