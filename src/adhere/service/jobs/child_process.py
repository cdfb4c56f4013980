"""A child process of low priority, which executes the jobs of one module, one after the other.

It is started at its first job and replaced after a failed job. Jobs and replies are pickled and sent over its
standard input and output. It ends when its input ends, and so it ends however the service ends. Python's
`ProcessPoolExecutor` cannot abort a running job, and its processes outlive a service that was killed.
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
    """The error for a job that was aborted or whose process ended. The next job starts another process."""


class ChildProcess:
    """A child process for jobs. The function that executes them comes from the module's `start(*arguments())`.

    `folder` is for temporary files, and is deleted however the service ends.
    """

    def __init__(self, module: str, arguments: Callable[[], tuple[Any, ...]] = tuple) -> None:
        self._module, self._arguments = module, arguments
        self._process: subprocess.Popen[bytes] | None = None
        self._thread = Threads(1, module.rpartition(".")[2])  # the thread that waits for the process
        self.folder = TemporaryFolder("adhere-jobs-")
        self._lock = threading.Lock()  # held while the process is started or ended
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
        if not isinstance(error, InputError):  # the job may have left a broken state
            self._end(process)
        raise error

    def in_thread(self, work: Callable[..., Result], *arguments: Any) -> asyncio.Future[Result]:
        """Call a function that waits for the process, such as `call`, in the waiting thread."""
        return asyncio.get_running_loop().run_in_executor(self._thread, work, *arguments)

    def close(self) -> None:
        """End the process at once. No other process is started afterwards."""
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
            folder = self.folder.path  # also needed if a process is running, for its temporary files
            if self._process is not None and self._process.poll() is None:
                return self._process
            if self._process is not None:
                reap(self._process)
            self._process = spawn(self._module, folder)
            with suppress(OSError):  # the process has already ended, which the job will report
                send(self._process, self._arguments())
            return self._process


def spawn(module: str, folder: str, *, is_shared: bool = False) -> subprocess.Popen[bytes]:
    """Start a process with its own folder. It expects the arguments of the module's `start`, and then jobs.

    If `is_shared`, the last process to end also deletes the parent folder.
    """
    package = Path(__file__).parents[3]
    paths = [str(package), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {"PYTHONPATH": os.pathsep.join(paths), "POLARS_MAX_THREADS": "1", "TMPDIR": folder}
    code = f"from {__name__} import main; main({module!r}, {folder!r}, is_shared={is_shared})"
    command, pipe = [sys.executable, "-P", "-c", code], subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, env=os.environ | environment)


def send(process: subprocess.Popen[bytes], arguments: tuple[Any, ...]) -> None:
    """Send the length of the pickled arguments, and then the arguments, which the main thread unpickles.

    Unpickling imports modules. If a second thread did so at the same time, it might fail, and the parent would get no
    answer.
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
        with suppress(OSError):  # unsent data is no longer needed
            if pipe is not None:
                pipe.close()


def broken_off(error: BaseException) -> JobProcessError:
    """Return the error for a job that ended with an unusual exception."""
    return JobProcessError(f"a job broke off: {type(error).__name__}")


def main(module: str, folder: str, *, is_shared: bool) -> None:
    """Execute the parent's jobs until the parent ends, then delete the folder of temporary files."""
    # Done before any import that might print or take long.
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    os.nice(NICENESS)
    os.umask(0o077)  # only the service may read exports
    # Signals that end the service may reach all its processes, but it must still answer open requests.
    for ending in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(ending, signal.SIG_IGN)
    waiting: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(requests, waiting, folder, is_shared), daemon=True).start()
    do = _started(module, waiting.get())
    while True:
        arguments = waiting.get()
        try:
            reply = pickle.dumps((do(*pickle.loads(arguments)), None))
        except BaseException as error:  # a panic of Polars is not an Exception
            reply = _failure(error)
        replies.write(reply)
        replies.flush()


def _receive(requests: BinaryIO, waiting: queue.SimpleQueue[bytes], folder: str, is_shared: bool) -> NoReturn:
    """Queue the parent's messages. When the parent ends, clean up, because a killed parent cannot do so."""
    while (
        len(head := requests.read(8)) == 8 and len(data := requests.read(size := int.from_bytes(head, "big"))) == size
    ):
        waiting.put(data)
    shutil.rmtree(folder, ignore_errors=True)
    around = Path(folder).parent
    if is_shared and not any(around.glob("*/state")):  # other processes make it again if needed
        shutil.rmtree(around, ignore_errors=True)
    os._exit(0)


def _started(module: str, arguments: bytes) -> Callable[..., Any]:
    """Return the function that executes jobs. If the module cannot start, the function fails at each job, so that the
    parent logs the error.
    """
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
