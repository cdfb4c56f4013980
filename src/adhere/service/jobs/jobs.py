"""Jobs: what takes long and only reads runs in one process of low priority, one job after the other.

Beside the service's own threads it would hold the interpreter's lock, and every recommendation would wait for it.
"""

from __future__ import annotations

import asyncio
import pickle
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from adhere.errors import InputError
from adhere.policies import registry
from adhere.service.http.problems import ProblemError
from adhere.service.jobs import job_process
from adhere.service.jobs.job_functions import FUNCTIONS
from adhere.service.jobs.job_process import JobProcessError, broken_off
from adhere.trial.processor import CommandProcessor

_RETRY_SECONDS = 2
_FEW_RECORDS = 500  # some ten milliseconds of work
_NEVER_HERE = frozenset({"table"})  # Polars, once it has panicked, fails for as long as its process lives


class Jobs:
    """The jobs of a service: calls of the functions in `job_functions`, by name.

    A token has one job at a time; those of different tokens queue. A job on few records that does not need Polars is
    done in a thread of this process, in less time than it takes to send it to the other; and so are all of a store in
    memory, which no other process can read. A process in which a job failed is replaced.
    """

    def __init__(self, processor: CommandProcessor) -> None:
        self._processor, self._location = processor, processor.store.location
        self._large = ThreadPoolExecutor(1, thread_name_prefix="jobs")  # waits for the process
        self._small = ThreadPoolExecutor(1, thread_name_prefix="small-jobs")
        self._busy: set[int] = set()
        self._process: subprocess.Popen[bytes] | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._lock = threading.RLock()  # of starting and ending the process
        self._closed = False

    async def run(self, token: int, name: str, *arguments: Any, n_records: int) -> Any:
        """Call a function for a token, on a trial of so many records."""
        with self.turn(token):
            return await self.call(name, *arguments, n_records=n_records)

    @contextmanager
    def turn(self, token: int) -> Iterator[None]:
        """The only job of a token for as long as the block lasts; refused while there is another."""
        if token in self._busy:
            raise ProblemError(
                "too-many",
                "an export or results for this token are still being made; one at a time",
                headers={"retry-after": str(_RETRY_SECONDS)},
            )
        self._busy.add(token)
        try:
            yield
        finally:
            self._busy.discard(token)

    async def call(self, name: str, *arguments: Any, n_records: int) -> Any:
        """Call a function in its turn; for those who have a token's turn already, and for the service itself."""
        loop = asyncio.get_running_loop()
        if self._location is None or (n_records <= _FEW_RECORDS and name not in _NEVER_HERE):
            return await loop.run_in_executor(self._small, partial(self._here, name, arguments))
        return await loop.run_in_executor(self._large, partial(self._there, name, arguments))

    def close(self) -> None:
        """End the process, whatever it does."""
        with self._lock:
            self._closed = True
            if self._process is not None:
                self._process.kill()
        self._large.shutdown(cancel_futures=True)
        self._small.shutdown(cancel_futures=True)
        if self._process is not None:
            _reap(self._process)
        if self._folder is not None:
            self._folder.cleanup()

    @property
    def folder(self) -> str:
        """A folder for temporary files, which is deleted however the service ends."""
        with self._lock:
            if self._folder is None:
                self._folder = tempfile.TemporaryDirectory(prefix="adhere-jobs-", ignore_cleanup_errors=True)
            return self._folder.name

    def _here(self, name: str, arguments: tuple[Any, ...]) -> Any:
        try:
            return FUNCTIONS[name](self._processor, *arguments)
        except Exception:
            raise
        except BaseException as error:  # which nothing between here and the client expects
            raise broken_off(error) from error

    def _there(self, name: str, arguments: tuple[Any, ...]) -> Any:
        process = self._running()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            pickle.dump((name, arguments), process.stdin)
            process.stdin.flush()
            value, error = pickle.load(process.stdout)
        except (OSError, EOFError, pickle.UnpicklingError):
            self._end(process)
            raise JobProcessError(f"the process for jobs ended during {name}") from None
        if error is None:
            return value
        if not isinstance(error, InputError):  # it may have left something broken behind
            self._end(process)
        raise error

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        with self._lock:
            self._process = None
        _reap(process)

    def _running(self) -> subprocess.Popen[bytes]:
        with self._lock:
            if self._closed:
                raise JobProcessError("the service is ending")
            if self._process is not None and self._process.poll() is None:
                return self._process
            if self._process is not None:
                _reap(self._process)
            command, environment = job_process.command(self.folder)
            pipe = subprocess.PIPE
            self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, env=environment)
            assert self._process.stdin is not None
            pickle.dump((self._location, _policy_files()), self._process.stdin)
            return self._process


def _reap(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        with suppress(OSError):  # what was not sent is of no use any more
            if pipe is not None:
                pipe.close()


def _policy_files() -> list[Path]:
    """The files that declare policies of the user's own."""
    modules = {cls.__module__ for cls in registry.values() if not cls.__module__.startswith("adhere.")}
    files = (getattr(sys.modules.get(name), "__file__", None) for name in sorted(modules))
    return [Path(file) for file in files if file is not None]
