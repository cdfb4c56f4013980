"""`adhere serve`: live trials over HTTP."""

from __future__ import annotations

from typing import Annotated

import typer

from adhere.cli.databases import DatabaseUrl, File, database
from adhere.cli.options import Imports, integer
from adhere.errors import InputError


def serve(
    file: File = None,
    database_url: DatabaseUrl = None,
    host: Annotated[str, typer.Option("--host", help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", metavar="N", parser=integer, help="The port; 0 takes any free one.")
    ] = 8000,
    workers: Annotated[
        int, typer.Option("--workers", metavar="N", parser=integer, help="Processes; with PostgreSQL only.")
    ] = 1,
    log_level: Annotated[
        str, typer.Option("--log-level", help="debug, info, warning or error; JSON lines on standard error.")
    ] = "info",
    imports: Imports = None,
) -> None:
    """Serve live trials over HTTP: recommend now, hear back late, out of order, twice or never; lose nothing.

    \b
      adhere serve                                        127.0.0.1:8000, trials in adhere.db
      adhere serve --database-url postgresql://… --workers 4

    The first start prints an admin token, once. With it, make trials and tokens for sites and statisticians:

    \b
      curl -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json" \\
           -d '{"name": "headache", "policy": "thompson/actual", "arms": ["walk", "aspirin"]}' \\
           http://127.0.0.1:8000/trials

    Or from Python: adhere.Client("http://127.0.0.1:8000", token). /openapi.json describes every request. Stop with
    Ctrl-C or SIGTERM: open requests are answered first. To serve others than this machine, put a proxy with TLS
    before it.
    """
    where = database(file, database_url)
    if log_level not in ("debug", "info", "warning", "error"):
        raise InputError("--log-level", log_level, "debug, info, warning or error")
    try:
        from adhere.service.serve import serve as run
    except ImportError:
        raise InputError("serve", "this installation", "the service: pip install 'adhere[service]'") from None
    run(
        where,
        host=host,
        port=port,
        workers=workers,
        log_level=log_level,
        imports=tuple(imports or ()),
    )
