"""Serve trials over HTTP until SIGTERM, SIGINT or SIGHUP."""

import errno
import logging
import os
import signal
import socket
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from multiprocessing import parent_process
from multiprocessing.process import BaseProcess
from pathlib import Path

import uvicorn
from starlette.types import ASGIApp
from uvicorn.config import STARTUP_FAILURE

from adhere.errors import InputError, StoreUnavailableError, UnavailableError
from adhere.files import may_pass
from adhere.policies import import_policies
from adhere.service.api.router import Router
from adhere.service.app import make_app
from adhere.service.http.http_server import HttpServer, check_certificate, end_by
from adhere.service.http.workers import Workers
from adhere.service.logs import set_up_logging
from adhere.service.metrics import FOLDER_VARIABLE
from adhere.service.pages.routes import ROUTES
from adhere.service.settings import ServiceSettings
from adhere.service.settings_sources import HIDDEN, check_settings
from adhere.service.starting import StartError, announce_first_token, start
from adhere.service.verification import check_heads_file
from adhere.store import Store, StoreError, check_place, open_store
from adhere.trial.writing.creation import begin_epochs_after_restore
from adhere.trial.writing.processor import utc_now

_SWITCH_SECONDS = 0.0005

log = logging.getLogger("adhere.service")


def serve(settings: ServiceSettings | None = None) -> None:
    """Serve the trials in a SQLite file or in PostgreSQL (``postgresql://…``).

    A store without tokens gets an admin token, which is shown once on the terminal or written to `admin_token_file`.
    After a failure that may be temporary, the start is tried again for `start_seconds`; then a `StartError` is
    raised. The function returns after SIGTERM, SIGINT or SIGHUP, when every open request has been answered.
    """
    settings = settings or ServiceSettings()
    check_settings(settings)
    Router(ROUTES, settings.root_path)  # raises an error if the root path hides a route
    if settings.tls_certificate and settings.tls_key:
        check_certificate(settings.tls_certificate, settings.tls_key)
    if settings.verify_heads is not None:
        check_heads_file(Path(settings.verify_heads))
    _check_place(settings)
    start(partial(_prepare, settings), settings.start_seconds)
    if settings.workers == 1:
        app, listening = start(partial(_single, settings), settings.start_seconds)
        server = _server(app, settings)
        _announce(settings, listening)
        server.run(sockets=[listening])
        return
    with ExitStack() as stack:
        listening, folder, shared = start(partial(_shared, settings, stack), settings.start_seconds)
        os.environ[FOLDER_VARIABLE] = folder
        workers = Workers(partial(_work, settings, listening, shared), settings.workers, settings.shutdown_seconds)
        _announce(settings, listening)
        if not workers.run():
            sys.exit(STARTUP_FAILURE)


def _check_place(settings: ServiceSettings) -> None:
    """Refuse a file or an address that is invalid regardless of the machine's state."""
    try:
        check_place(settings.store, settings.secret_file)
    except StoreUnavailableError:
        return  # the start reports it and tries again
    except StoreError as error:
        raise InputError("store", HIDDEN, "a place for the trials", str(error)) from None


def _single(settings: ServiceSettings) -> tuple[ASGIApp, socket.socket]:
    """Return the service for a single process, and its socket."""
    with _started(settings) as (store, listening):
        return make_app(store, settings), listening


def _shared(settings: ServiceSettings, stack: ExitStack) -> tuple[socket.socket, str, str]:
    """Return the socket that several processes share, and folders for their metrics and simulations."""
    with _started(settings) as (store, listening):
        prefixes = ("adhere-metrics-", "adhere-simulations-")
        folders = [stack.enter_context(tempfile.TemporaryDirectory(prefix=prefix)) for prefix in prefixes]
    store.close()
    return listening, folders[0], folders[1]


@contextmanager
def _started(settings: ServiceSettings) -> Iterator[tuple[Store, socket.socket]]:
    """Open the store and the socket. Both are closed if the block raises."""
    store = _open(settings)
    with ExitStack() as undo:
        undo.callback(store.discard)
        if store.secret_file is not None:
            _move_secrets(store)
        begin_epochs_after_restore(store, utc_now())  # done once, before workers start
        listening = undo.enter_context(_bound(settings.host, settings.port))
        announce_first_token(store, settings.admin_token_file)
        yield store, listening
        undo.pop_all()


def _open(settings: ServiceSettings) -> Store:
    return open_store(settings.store, deadline=settings.store_deadline, secret_file=settings.secret_file)


def _move_secrets(store: Store) -> None:
    """Move secrets into `secret_file`, for trials that were created before this setting was made."""
    with store.reading() as view:
        if not view.has_secrets():
            return
    with store.writing() as writing:
        n_moved = writing.move_secrets()
    log.warning("%d secrets were moved from the store into the file of secrets; older backups contain them", n_moved)


def _prepare(settings: ServiceSettings) -> None:
    # Make computing threads (rendering a page, compiling) release the interpreter more often. Answers wait for it at
    # each statement to the store, by default up to five milliseconds each time.
    sys.setswitchinterval(_SWITCH_SECONDS)
    set_up_logging(settings.log_level, settings.log_file)
    for file in settings.imports:
        import_policies(Path(file))


def _work(settings: ServiceSettings, listening: socket.socket, shared: str, on_started: Callable[[], None]) -> None:
    """Serve in a worker process."""
    threading.Thread(target=_end_with, args=(parent_process(),), daemon=True).start()
    try:
        _prepare(settings)
        app = start(partial(_worker_app, settings, shared), settings.start_seconds)
    except (InputError, StoreError, StartError) as error:
        log.error("worker cannot start: %s", error)
    except Exception:
        log.exception("worker cannot start")
    else:
        _server(app, settings, on_started).run(sockets=[listening])
        return
    sys.exit(STARTUP_FAILURE)


def _worker_app(settings: ServiceSettings, shared: str) -> ASGIApp:
    store = _open(settings)
    try:
        return make_app(store, settings, shared)
    except BaseException:
        store.close()
        raise


def _server(app: ASGIApp, settings: ServiceSettings, on_started: Callable[[], None] | None = None) -> HttpServer:
    """Return the server of one process. From now on, signals shut it down."""
    server = HttpServer(_config(app, settings), settings, on_started)
    end_by(server.handle_exit)
    return server


def _end_with(parent: BaseProcess | None) -> None:
    """End this worker when its parent is killed; otherwise it would occupy the port forever."""
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)


def _config(app: ASGIApp, settings: ServiceSettings) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        loop="auto",  # uvloop if it is installed
        http="httptools",
        ws="none",
        access_log=False,
        log_config=None,
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=settings.shutdown_seconds,
        ssl_certfile=settings.tls_certificate,
        ssl_keyfile=settings.tls_key,
    )


def _bound(host: str, port: int) -> socket.socket:
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listening = socket.create_server((host, port), family=family, backlog=2048)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        if isinstance(error, OSError) and _may_pass(error):
            raise UnavailableError(f"{host}:{port} cannot be listened on: {reason}") from None
        raise InputError("address", f"{host}:{port}", f"one to listen on ({reason})") from None
    listening.set_inheritable(True)
    return listening


def _may_pass(error: OSError) -> bool:
    """Return whether an error may be temporary: later, the address may be free, belong to this machine or be
    resolvable.
    """
    if isinstance(error, socket.gaierror):
        return error.errno == socket.EAI_AGAIN
    return error.errno in (errno.EADDRINUSE, errno.EADDRNOTAVAIL) or may_pass(error)


def _announce(settings: ServiceSettings, listening: socket.socket) -> None:
    """Print the service's address. Signals are handled before, because a waiting program may send one at once."""
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    port = listening.getsockname()[1]
    address = f"{'https' if settings.tls_key else 'http'}://{host}:{port}"
    start(partial(print, f"Serving on {address}", flush=True), settings.start_seconds)  # the disk may be full
