"""Backend for executors whose workers do not share this process's memory: processes, or machines of a cluster.

The first part runs here; `run_task` and the code after it run in the workers.
"""

import hashlib
import importlib
import importlib.machinery
import os
import pickle
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

import numpy as np
import platformdirs

from adhere.compilation.sources import noted_digest
from adhere.compilation.user_code import SENT
from adhere.errors import InputError
from adhere.files import write_file
from adhere.policies import Policy, import_policies, registry
from adhere.simulation.execution.accumulate import TaskResult
from adhere.simulation.execution.backend import PendingTask, n_workers, wait_for
from adhere.simulation.execution.identity import differences, identity
from adhere.simulation.execution.plan import Task, explain_unloadable
from adhere.simulation.execution.task_runner import TaskRunner

_ASK_AGAIN_SECONDS = 2.0
_LARGE_PLAN = 1 << 16  # in bytes; larger plans are not sent with every task
_IDENTITY = identity()
_MAX_KEPT = 4
_runners: dict[str, TaskRunner[Any]] = {}  # by plan ID, oldest first
_lock = threading.Lock()


class ExecutorBackend:
    """Backend of workers outside this process, which compile for themselves and report patients at the end of a task.

    The plan is pickled once. A small plan is sent with every task. A large plan is sent only to workers that report
    that they do not have it yet, and they store it.
    """

    def __init__(self, runner: TaskRunner[Any], executor: Executor) -> None:
        self._plan, self._executor = runner.plan, executor
        self._id, self._packed = uuid.uuid4().hex, pack(runner)
        self._is_large = len(self._packed) > _LARGE_PLAN
        self._n_workers, self._asked = 0, -_ASK_AGAIN_SECONDS
        self.blocks_per_task = self._plan.blocks_per_task

    def prepare(self, announce: Callable[[str], None]) -> None:
        """Store the announcer. Each worker prepares itself."""
        self._announce = announce

    def n_at_once(self) -> int:
        """Return two tasks per worker, so that each worker finds its next task waiting. Workers may come and go."""
        if time.monotonic() - self._asked >= _ASK_AGAIN_SECONDS:
            had_some, self._n_workers = self._n_workers > 0, n_workers(self._executor)
            self._asked = time.monotonic()
            if had_some and not self._n_workers:
                self._announce("all workers are gone; waiting for others")
        return 2 * max(1, self._n_workers)

    def submit(self, task: Task) -> PendingTask:
        """Send a task."""
        return PendingTask(task, self._send(task, with_plan=not self._is_large), np.zeros(1, np.int64))

    def result(self, pending: Sequence[PendingTask], on_wait: Callable[[], None]) -> TaskResult:
        """Wait for the result of the first task."""

        def look() -> None:
            for one in pending:
                self._look_after(one)
            self.n_at_once()
            on_wait()

        result: TaskResult | None = None
        while result is None:
            result = wait_for(pending[0].future, look)
            self._look_after(pending[0])
        return result

    def _look_after(self, one: PendingTask) -> None:
        """Mark a finished task as done. If its worker lacked the plan, send the task again together with the plan."""
        future = one.future
        if one.done[0] or not future.done() or future.cancelled() or future.exception() is not None:
            return
        if future.result() is None:
            one.future = self._send(one.task, with_plan=True)
        else:
            one.done[0] = self._plan.patients_in(one.task)

    def _send(self, task: Task, with_plan: bool) -> Future[TaskResult | None]:
        call = RemoteCall(self._id, self._packed if with_plan else None, task)
        return self._executor.submit(pickle.loads, pickle.dumps(call))

    def stop(self) -> None:
        """Do nothing: workers finish their current tasks and cannot be interrupted."""


def pack(runner: TaskRunner[Any]) -> bytes:
    """Pickle what a worker needs: the versions here, files that declare policies, the runner's type and the plan."""
    named = [one.given for one in runner.runners[0] if isinstance(one.given, Policy)]
    # Pickled separately, so that a worker with another version of adhere can say so before it fails to load the rest.
    return pickle.dumps((_IDENTITY, *_homes(named), pickle.dumps((type(runner), runner.plan))))


def _homes(policies: Iterable[Policy]) -> tuple[list[tuple[str, str, bytes]], list[tuple[str, str | None]]]:
    """Return where a user's policies are declared: the files to send, and the modules that workers must have."""
    files, modules = [], []
    for name in dict.fromkeys(type(part).__module__ for policy in policies for part in policy.parts()):
        file = getattr(sys.modules[name], "__file__", None)
        if name.partition(".")[0] in ("adhere", "__main__", "__mp_main__") or file is None:
            continue
        if "." in name or importlib.machinery.PathFinder.find_spec(name) is not None:
            modules.append((name, noted_digest(name)))
        else:
            files.append((name, Path(file).name, Path(file).read_bytes()))
    return files, modules


class RemoteCall:
    """A call of `run_task` that is made by unpickling: an executor's worker calls `pickle.loads` on its bytes.

    Processes on the way, such as Dask's scheduler, therefore do not need adhere, and a worker without adhere can say
    so. A Dask worker would exit if it received a function that it cannot import.
    """

    def __init__(self, plan_id: str, packed: bytes | None, task: Any) -> None:
        self._arguments = (plan_id, packed, task)

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[str, bytes | None, Any]]:
        return run_task, self._arguments


def run_task(plan_id: str, packed: bytes | None, task: Any) -> Any:
    """Run a task in a worker, or return None if the worker does not have the plan with this ID yet."""
    try:
        with _lock:
            runner = _runners.get(plan_id)
            if runner is None:
                if packed is None:
                    return None
                runner = unpack(packed)
                runner.prepare(lambda message: None)
                while len(_runners) >= _MAX_KEPT:
                    del _runners[next(iter(_runners))]
                _runners[plan_id] = runner
        return runner.run(task, np.zeros(1, np.int64), np.zeros(1, np.int64))
    except Exception as error:
        if _travels(error):
            raise
        raise RuntimeError(f"{type(error).__name__}: {error}") from None


def _travels(error: Exception) -> bool:
    """Return whether an error can be pickled and sent to the caller; otherwise it would break a pool of processes."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # for the same reason
        return False
    return True


def unpack(packed: bytes) -> TaskRunner[Any]:
    """Unpack a plan on a worker, and return its runner."""
    theirs, files, modules, work = pickle.loads(packed)
    if differing := differences(_IDENTITY, theirs):
        raise InputError("executor", f"a worker with {differing}", "workers with the same adhere as here")
    with explain_unloadable():
        _declare(files, modules)
    make_runner, plan = pickle.loads(work)
    runner: TaskRunner[Any] = make_runner(plan)
    return runner


def _declare(files: Iterable[tuple[str, str, bytes]], modules: Iterable[tuple[str, str | None]]) -> None:
    """Register a user's own policies by name, as in the calling process."""
    homes = []
    for name, digest in modules:
        homes.append(importlib.import_module(name))
        if noted_digest(name) != digest:
            expected = "the same module on the workers as here: start them again after an edit"
            raise InputError("executor", f"a worker with another {name}", expected)
    for name, file, content in files:
        homes.append(sys.modules.get(name) or import_policies(_kept(file, content)))
    for home in homes:
        for thing in vars(home).values():
            if isinstance(thing, type) and issubclass(thing, Policy) and thing.__module__ == home.__name__:
                registry[thing.name] = thing  # another plan's file may have used the name since


def _kept(name: str, content: bytes) -> Path:
    """Return a file with this content, always at the same path, so that its compiled code is found again."""
    root = Path(os.environ.get("ADHERE_CACHE_DIR") or platformdirs.user_cache_dir("adhere"))
    file = root / SENT / hashlib.sha256(content).hexdigest()[:24] / name
    try:
        if not file.is_file():
            write_file(file, content)
    except OSError:  # no folder can be written: its code is compiled anew each time
        file = Path(tempfile.mkdtemp(prefix="adhere-")) / name
        file.write_bytes(content)
    return file
