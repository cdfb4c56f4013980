"""Serve trials over HTTP until SIGTERM or SIGINT."""

from __future__ import annotations

import os
import signal
import socket
import tempfile
import threading
from collections.abc import Sequence
from functools import partial
from multiprocessing import parent_process
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import uvicorn
from uvicorn.supervisors import Multiprocess

from adhere.errors import InputError
from adhere.policies import import_policies
from adhere.service.app import App, make_app
from adhere.service.context import ServiceSettings
from adhere.service.http_protocol import HttpProtocol
from adhere.service.logs import set_up_logging
from adhere.service.metrics import FOLDER_VARIABLE
from adhere.store import Store, open_store
from adhere.tokens import Tokens

_SHUTDOWN_SECONDS = 30  # for open requests to end


def serve(
    database: str | Path | None,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    workers: int = 1,
    settings: ServiceSettings | None = None,
    log_level: str = "info",
    imports: Sequence[Path] = (),
) -> None:
    """Serve the trials in a SQLite file, in PostgreSQL (``postgresql://…``) or in memory; port 0 takes any free one.

    `imports` are files that declare policies of one's own. A store that has no token yet gets an admin token, printed
    this once. Returns after SIGTERM or SIGINT, once every open request was answered.
    """
    if workers < 1:
        raise InputError("workers", workers, "at least 1")
    if workers > 1 and not str(database).startswith(("postgresql://", "postgres://")):
        expected = "1: only PostgreSQL can be written by several processes (postgresql://…)"
        raise InputError("workers", workers, expected)
    settings = settings or ServiceSettings()
    _prepare(log_level, imports)
    store = open_store(database)
    try:
        listening = _bound(host, port)
        _announce(store, host, listening.getsockname()[1])
    except BaseException:
        store.close()
        raise
    # uvicorn raises the signal that ended it once more at the end, when there is nothing left to do.
    for ending in (signal.SIGTERM, signal.SIGINT) if threading.current_thread() is threading.main_thread() else ():
        signal.signal(ending, lambda _signal, _frame: None)
    if workers == 1:
        uvicorn.Server(_config(make_app(store, settings))).run(sockets=[listening])
        return
    store.close()
    with tempfile.TemporaryDirectory(prefix="adhere-metrics-") as folder:
        os.environ[FOLDER_VARIABLE] = folder
        config = _config(partial(_worker_app, database, settings, log_level, imports), factory=True, workers=workers)
        Multiprocess(config, sockets=[listening]).run()


def _prepare(log_level: str, imports: Sequence[Path]) -> None:
    set_up_logging(log_level)
    for file in imports:
        import_policies(file)


def _worker_app(
    database: str | Path | None, settings: ServiceSettings, log_level: str, imports: Sequence[Path]
) -> App:
    _prepare(log_level, imports)
    threading.Thread(target=_end_with, args=(parent_process(),), daemon=True).start()
    return make_app(open_store(database), settings)


def _end_with(parent: BaseProcess | None) -> None:
    """End a worker whose parent was killed; otherwise it would hold the port for ever."""
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)


def _config(app: Any, **more: Any) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        loop="auto",  # uvloop where it is installed
        http=HttpProtocol,
        ws="none",
        access_log=False,
        log_config=None,
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
        **more,
    )


def _bound(host: str, port: int) -> socket.socket:
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listening = socket.create_server((host, port), family=family, backlog=2048)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError("address", f"{host}:{port}", f"one to listen on ({reason})") from None
    listening.set_inheritable(True)
    return listening


def _announce(store: Store, host: str, port: int) -> None:
    if token := Tokens(store).make_first():
        print(f"The first admin token, shown only now: {token}", flush=True)
    name = f"[{host}]" if ":" in host else host
    print(f"Serving on http://{name}:{port}", flush=True)
