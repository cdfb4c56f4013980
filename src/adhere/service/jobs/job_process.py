"""A process for jobs, from within: it does what one module does, for its parent, one job after the other.

Requests and replies are pickled over its standard input and output; it has low priority. It ends when its input does,
as it does however the parent ends.
"""

from __future__ import annotations

import importlib
import os
import pickle
import queue
import shutil
import signal
import sys
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

NICENESS = 10


class JobProcessError(Exception):
    """A job broke off, or its process ended; the next job starts another."""


def main(module: str, folder: str) -> None:
    """Serve the parent until it ends; then delete the folder of its temporary files.

    The module's `start` is called with what the parent sends first, and returns the function that does the jobs.
    """
    # Before anything is imported that might print or take long.
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    os.nice(NICENESS)
    os.umask(0o077)  # exports are for the service alone
    # What ends the service may be sent to all its processes, and it still has to answer open requests.
    for ending in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(ending, signal.SIG_IGN)
    waiting: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(requests, waiting, folder), daemon=True).start()
    _serve(module, waiting, replies)


def frame(value: Any) -> bytes:
    """A pickled value behind its length: what is received is unpickled, which imports modules, by the main thread.

    A second thread that imports at the same time may fail, and nobody would answer the parent any more.
    """
    data = pickle.dumps(value)
    return len(data).to_bytes(8, "big") + data


def read_frame(requests: BinaryIO) -> bytes:
    """The next value, still pickled; raises an `EOFError` at the end."""
    length = requests.read(8)
    data = requests.read(int.from_bytes(length, "big"))
    if len(length) < 8 or len(data) < int.from_bytes(length, "big"):
        raise EOFError
    return data


def _receive(requests: BinaryIO, waiting: queue.SimpleQueue[Any], folder: str) -> None:
    while True:
        try:
            waiting.put(read_frame(requests))
        except EOFError:
            shutil.rmtree(folder, ignore_errors=True)  # a parent that was killed could not do it
            os._exit(0)


def _serve(module: str, waiting: queue.SimpleQueue[Any], replies: BinaryIO) -> None:
    do = _started(module, waiting.get())
    while True:
        arguments = waiting.get()
        try:
            reply = pickle.dumps((do(*pickle.loads(arguments)), None))
        except BaseException as error:  # Polars panics with one that is no Exception
            reply = _failure(error)
        replies.write(reply)
        replies.flush()


def _started(module: str, arguments: bytes) -> Callable[..., Any]:
    """Return the function that does the jobs; one that fails at each if there is none, as the parent is to log it."""
    try:
        return importlib.import_module(module).start(*pickle.loads(arguments))  # type: ignore[no-any-return]
    except Exception as error:
        reason = str(error).partition("\n")[0] or type(error).__name__
        return partial(_refuse, f"the process of {module} cannot start: {reason}")


def _refuse(sentence: str, *_: Any) -> NoReturn:
    raise JobProcessError(sentence)


def _failure(error: BaseException) -> bytes:
    if not isinstance(error, Exception):
        return pickle.dumps((None, broken_off(error)))
    try:
        data = pickle.dumps((None, error))
        pickle.loads(data)
    except Exception:
        return pickle.dumps((None, RuntimeError(type(error).__name__)))
    return data


def broken_off(error: BaseException) -> JobProcessError:
    """What a job that ended with no ordinary exception is answered with."""
    return JobProcessError(f"a job broke off: {type(error).__name__}")


def command(module: str, folder: str) -> tuple[list[str], dict[str, str]]:
    """How the process is started: its command line, and its environment. It takes the folder for itself."""
    package = Path(__file__).parents[3]
    paths = [str(package), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {"PYTHONPATH": os.pathsep.join(paths), "POLARS_MAX_THREADS": "1", "TMPDIR": folder}
    code = f"from {__name__} import main; main({module!r}, {folder!r})"
    return [sys.executable, "-P", "-c", code], os.environ | environment
