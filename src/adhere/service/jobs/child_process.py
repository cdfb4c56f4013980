"""A process for jobs, from without: started at its first job, replaced after one that failed."""

from __future__ import annotations

import pickle
import subprocess
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from adhere.errors import InputError
from adhere.service.jobs import job_process
from adhere.service.jobs.job_process import JobProcessError
from adhere.service.temporary_folders import TemporaryFolder


class ChildProcess:
    """A process in which a module's `start`, called with what `arguments` returns, returned what does the jobs."""

    def __init__(self, module: str, arguments: Callable[[], tuple[Any, ...]] = tuple) -> None:
        self._module, self._arguments = module, arguments
        self._process: subprocess.Popen[bytes] | None = None
        self._folder = TemporaryFolder("adhere-jobs-")
        self._lock = threading.Lock()  # of starting and ending the process
        self._closed = False

    def call(self, *arguments: Any) -> Any:
        """Do a job and wait for it; one thread at a time."""
        process = self._running()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(job_process.frame(arguments))
            process.stdin.flush()
            value, error = pickle.load(process.stdout)
        except (OSError, EOFError, pickle.UnpicklingError):
            self._end(process)
            raise JobProcessError(f"the process of {self._module} ended during a job") from None
        if error is None:
            return value
        if not isinstance(error, InputError):  # it may have left something broken behind
            self._end(process)
        raise error

    def kill(self) -> None:
        """End the process, whatever it does; no other is started."""
        with self._lock:
            self._closed = True
            if self._process is not None:
                self._process.kill()

    def close(self) -> None:
        """Clean up after a process that was killed, once nobody waits for a job."""
        self.kill()
        if self._process is not None:
            _reap(self._process)
        self._folder.delete()

    @property
    def folder(self) -> str:
        """A folder for temporary files, which is deleted however the service ends."""
        return self._folder.path

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        with self._lock:
            self._process = None
        _reap(process)

    def _running(self) -> subprocess.Popen[bytes]:
        with self._lock:
            if self._closed:
                raise JobProcessError("the service is ending")
            folder = self.folder  # for a process that runs too, whose temporary files are in it
            if self._process is not None and self._process.poll() is None:
                return self._process
            if self._process is not None:
                _reap(self._process)
            command, environment = job_process.command(self._module, folder)
            pipe = subprocess.PIPE
            self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, env=environment)
            assert self._process.stdin is not None
            self._process.stdin.write(job_process.frame(self._arguments()))
            return self._process


def _reap(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        with suppress(OSError):  # what was not sent is of no use any more
            if pipe is not None:
                pipe.close()
