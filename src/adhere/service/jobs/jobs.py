"""Jobs: slow work that only reads, executed in one process of low priority, one job after the other.

In a thread of the service, such work would occupy the interpreter's lock, and every recommendation would wait.
"""

import asyncio
import copy
import sys
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from adhere.policies.base.registry import registry
from adhere.service.http.problems import ProblemError
from adhere.service.jobs import job_functions
from adhere.service.jobs.child_process import ChildProcess, broken_off
from adhere.service.jobs.job_functions import FUNCTIONS
from adhere.service.threads import Threads
from adhere.site_zones import SiteZones
from adhere.store import ReadTransaction, Store
from adhere.trial.log.follow_up import FollowUp
from adhere.trial.writing.processor import CommandProcessor

_FEW_RECORDS = 500  # about ten milliseconds of work
# After a panic, Polars fails until its process ends. Figures take seconds.
_NEVER_HERE = frozenset({"table", "analysis"})


class Jobs:
    """The jobs of a service, which are calls of the functions in `job_functions` by name.

    A token has one job at a time, and jobs of different tokens queue. A process is replaced after a failed job.

    Some jobs are executed in a thread of this process: jobs on few records that do not need Polars, because sending
    them elsewhere would take longer, and jobs on a store in memory, because no other process can read it.
    """

    def __init__(self, processor: CommandProcessor) -> None:
        self._processor, self._location = processor, processor.store.location
        self._small = Threads(1, "small-jobs")
        self._busy: set[int] = set()
        self._process = ChildProcess(job_functions.__name__, lambda: child_arguments(processor.store))

    async def run(self, token: int, name: str, *arguments: Any, n_records: int) -> Any:
        """Call a function for a token, on a trial with `n_records` records."""
        with self.turn(token):
            return await self.call(name, *arguments, n_records=n_records)

    @contextmanager
    def turn(self, token: int) -> Iterator[None]:
        """Reserve the token's only job during the block. Refuse it while the token has another job."""
        if token in self._busy:
            detail = "an export or results for this token are still being made; one at a time"
            raise ProblemError("too-many", detail, retry_after=2)
        self._busy.add(token)
        try:
            yield
        finally:
            self._busy.discard(token)

    async def call(self, name: str, *arguments: Any, n_records: int) -> Any:
        """Call a function when its turn comes, for the service itself or a caller that has reserved a token's job."""
        if self._location is None or (n_records <= _FEW_RECORDS and name not in _NEVER_HERE):
            return await asyncio.get_running_loop().run_in_executor(self._small, partial(self._here, name, arguments))
        return await self._process.in_thread(self._process.call, name, *arguments)

    def close(self) -> None:
        """End the process at once."""
        self._small.shutdown(cancel_futures=True)
        self._process.close()

    @property
    def folder(self) -> str:
        """Return the folder for temporary files, which is deleted however the service ends."""
        return self._process.folder.path

    def _here(self, name: str, arguments: tuple[Any, ...]) -> Any:
        try:
            return FUNCTIONS[name](self._processor, *arguments)
        except Exception:
            raise
        except BaseException as error:  # callers do not expect such an exception
            raise broken_off(error) from error


def child_arguments(store: Store) -> tuple[str | Path | None, Path | None, list[Path]]:
    """Return the arguments of a process that opens the same store: its location, secret file and user policies."""
    secrets = None if store.secret_file is None else store.secret_file.path
    return store.location, secrets, policy_files()


def policy_files() -> list[Path]:
    """Return the files that declare the user's own policies."""
    modules = {cls.__module__ for cls in registry.values() if not cls.__module__.startswith("adhere.")}
    files = (getattr(sys.modules.get(name), "__file__", None) for name in sorted(modules))
    return [Path(file) for file in files if file is not None]


Result = TypeVar("Result")
_FEW_TO_FOLLOW = 1000  # number of records: a few milliseconds of work


class FollowUps:
    """The follow-up of all trials. The process for jobs reads long logs, and this process reads a few new records."""

    def __init__(self, jobs: Jobs, zones: SiteZones) -> None:
        self._jobs, self.zones = jobs, zones
        self._known: dict[int, FollowUp] = {}
        self._reading: defaultdict[int, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._lock = threading.Lock()

    async def prepare(self, name: str, number: int, n_records: int) -> None:
        """Read a long log in the process for jobs, so that it occupies no thread of this process."""
        async with self._reading[number]:
            known = self._known.get(number) or FollowUp(self.zones)
            if n_records - known.position > _FEW_TO_FOLLOW:
                with self._lock:  # a copy, because another thread may update it in the meantime
                    known = copy.deepcopy(known)
                found = await self._jobs.call("follow-up", name, known, n_records=n_records)
                with self._lock:
                    self._known[number] = found

    def use(self, view: ReadTransaction, number: int, work: Callable[[FollowUp], Result]) -> Result:
        """Update a trial's follow-up with the records of the view, and call a function with it."""
        with self._lock:
            known = self._known.setdefault(number, FollowUp(self.zones))
            known.catch_up(view, number)
            return work(known)
