"""A process for jobs of low priority, which does what one module does, one job after the other.

It is started at its first job and replaced after one that failed. Jobs and replies are pickled over its standard
input and output; it ends when its input does, as it does however the service ends. Python's `ProcessPoolExecutor`
will not do: it cannot end a job under way, and its processes outlive a service that was killed.
"""

import asyncio
import importlib
import os
import pickle
import queue
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, NoReturn, TypeVar

from adhere.errors import InputError
from adhere.service.temporary_folders import TemporaryFolder
from adhere.service.threads import Threads

NICENESS = 10
Result = TypeVar("Result")


class JobProcessError(Exception):
    """The error for a job that broke off, or a process that ended. The next job starts another process."""


class ChildProcess:
    """A process in which a module's `start`, called with what `arguments` returns, returned what does the jobs.

    `folder` is for temporary files, and is deleted however the service ends.
    """

    def __init__(self, module: str, arguments: Callable[[], tuple[Any, ...]] = tuple) -> None:
        self._module, self._arguments = module, arguments
        self._process: subprocess.Popen[bytes] | None = None
        self._thread = Threads(1, module.rpartition(".")[2])  # waits for the process
        self.folder = TemporaryFolder("adhere-jobs-")
        self._lock = threading.Lock()  # of starting and ending the process
        self._closed = False

    def call(self, *arguments: Any) -> Any:
        """Run a job and wait for it. One thread at a time may call this."""
        process = self._running()
        try:
            send(process, arguments)
            value, error = reply_of(process)
        except (OSError, JobProcessError):
            self._end(process)
            raise JobProcessError(f"the process of {self._module} ended during a job") from None
        if error is None:
            return value
        if not isinstance(error, InputError):  # it may have left something broken behind
            self._end(process)
        raise error

    def in_thread(self, work: Callable[..., Result], *arguments: Any) -> asyncio.Future[Result]:
        """Call a function that waits for the process, such as `call`, in the thread for that."""
        return asyncio.get_running_loop().run_in_executor(self._thread, work, *arguments)

    def close(self) -> None:
        """End the process at once. No other is started."""
        with self._lock:
            self._closed = True
            if self._process is not None:
                self._process.kill()
        self._thread.shutdown(cancel_futures=True)
        if self._process is not None:
            reap(self._process)
        self.folder.delete()

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        with self._lock:
            self._process = None
        reap(process)

    def _running(self) -> subprocess.Popen[bytes]:
        with self._lock:
            if self._closed:
                raise JobProcessError("the service is ending")
            folder = self.folder.path  # for a process that runs too, whose temporary files are in it
            if self._process is not None and self._process.poll() is None:
                return self._process
            if self._process is not None:
                reap(self._process)
            self._process = spawn(self._module, folder)
            with suppress(OSError):  # it has ended already, as the job will find
                send(self._process, self._arguments())
            return self._process


def spawn(module: str, folder: str, *, is_shared: bool = False) -> subprocess.Popen[bytes]:
    """Start a process, which takes a folder for itself; it expects the arguments of the module's `start`, then jobs.

    If `is_shared`, the last process to end deletes the folder around it, too.
    """
    package = Path(__file__).parents[3]
    paths = [str(package), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {"PYTHONPATH": os.pathsep.join(paths), "POLARS_MAX_THREADS": "1", "TMPDIR": folder}
    code = f"from {__name__} import main; main({module!r}, {folder!r}, is_shared={is_shared})"
    command, pipe = [sys.executable, "-P", "-c", code], subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, env=os.environ | environment)


def send(process: subprocess.Popen[bytes], arguments: tuple[Any, ...]) -> None:
    """Send arguments, pickled, behind their length: they are unpickled, which imports modules, by the main thread.

    A second thread that imports at the same time may fail, and nobody would answer the parent any more.
    """
    data = pickle.dumps(arguments)
    assert process.stdin is not None
    process.stdin.write(len(data).to_bytes(8, "big") + data)
    process.stdin.flush()


def reply_of(process: subprocess.Popen[bytes]) -> tuple[Any, Exception | None]:
    """Wait for the value or the error of a job. Raise `JobProcessError` if the process has ended."""
    assert process.stdout is not None
    try:
        value, error = pickle.load(process.stdout)
    except (EOFError, pickle.UnpicklingError):
        raise JobProcessError("its process ended, perhaps for lack of memory") from None
    return value, error


def reap(process: subprocess.Popen[bytes]) -> None:
    """End a process at once."""
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        with suppress(OSError):  # what was not sent is of no use any more
            if pipe is not None:
                pipe.close()


def broken_off(error: BaseException) -> JobProcessError:
    """Return the error for a job that ended with an unusual exception."""
    return JobProcessError(f"a job broke off: {type(error).__name__}")


def main(module: str, folder: str, *, is_shared: bool) -> None:
    """Serve the parent until it ends; then delete the folder of its temporary files."""
    # Before anything is imported that might print or take long.
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    os.nice(NICENESS)
    os.umask(0o077)  # exports are for the service alone
    # What ends the service may be sent to all its processes, and it still has to answer open requests.
    for ending in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(ending, signal.SIG_IGN)
    waiting: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(requests, waiting, folder, is_shared), daemon=True).start()
    do = _started(module, waiting.get())
    while True:
        arguments = waiting.get()
        try:
            reply = pickle.dumps((do(*pickle.loads(arguments)), None))
        except BaseException as error:  # Polars panics with one that is no Exception
            reply = _failure(error)
        replies.write(reply)
        replies.flush()


def _receive(requests: BinaryIO, waiting: queue.SimpleQueue[bytes], folder: str, is_shared: bool) -> NoReturn:
    """Pass on what the parent sends; at its end, clean up, which a parent that was killed could not do."""
    while (
        len(head := requests.read(8)) == 8 and len(data := requests.read(size := int.from_bytes(head, "big"))) == size
    ):
        waiting.put(data)
    shutil.rmtree(folder, ignore_errors=True)
    around = Path(folder).parent
    if is_shared and not any(around.glob("*/state")):  # another process of the service makes it again if it needs it
        shutil.rmtree(around, ignore_errors=True)
    os._exit(0)


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
