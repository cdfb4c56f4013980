"""Group commit: all commands that wait are executed in one transaction, and answered when it is durable.

A commit is the costly part, so all commands that wait share one. Ordinary commands, on a store that no other process
writes to, are executed in the event loop, which stands still for as long as one commit takes: with a second thread,
GIL contention would cost about as much again as the work. Where others may hold a lock, as in PostgreSQL, they are
executed in a thread. So they are where another program has locked the SQLite file: the event loop waits for no lock.

Commands that may have to learn much again, or to load a policy, are prepared first, in a second thread beside which
the others go on (`CommandProcessor.prepare`); then they are executed among the others.
"""

import asyncio
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias, TypeVar

from adhere.errors import UnavailableError
from adhere.memory import is_shortage
from adhere.service.metrics import Metrics
from adhere.service.preparer import Preparer
from adhere.service.threads import Threads
from adhere.store import OutcomeUnknownError, Store, StoreBusyError, StoreError
from adhere.store.access import add_access
from adhere.trial.domain.commands import AnyCommand, Response
from adhere.trial.writing.processor import CommandProcessor

MAX_BATCH = 256
_LOOP_ROUNDS = 4  # of the event loop, some ten microseconds each, in which more commands may come in
_UNREADY_SECONDS = 10.0  # for which a commit that failed makes the service unready

Result = TypeVar("Result")
Work: TypeAlias = AnyCommand | Callable[[], Any]
Waiting: TypeAlias = tuple[Work, asyncio.Future[Any]]

log = logging.getLogger("adhere.service")


class ShutdownError(Exception):
    """The service is shutting down and accepts no more commands."""


class GroupCommit:
    """The only writer to the store in this process."""

    def __init__(self, processor: CommandProcessor, metrics: Metrics) -> None:
        self._processor, self._metrics = processor, metrics
        self._queue: deque[Waiting] = deque()
        self._thread = Threads(1, "writer")
        self._preparer = Preparer(processor, self._enqueue)
        self._busy = False  # a batch is being executed, or is about to be
        self._failed_at: float | None = None
        self._closing = False

    def execute(self, command: AnyCommand) -> asyncio.Future[Response]:
        """The answer to a command once it is durable; raises an `InputError` if it is refused."""
        return self._put(command)

    def run(self, work: Callable[[], Result]) -> asyncio.Future[Result]:
        """Call a function that writes to the store, in its turn."""
        return self._put(work)

    def _put(self, work: Work) -> asyncio.Future[Any]:
        if self._closing:
            raise ShutdownError
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        if not callable(work) and not self._processor.is_ready(work.trial):
            self._preparer.put((work, future))
        else:
            self._enqueue([(work, future)])
        return future

    def _enqueue(self, waiting: Sequence[Waiting]) -> None:
        self._queue.extend(waiting)
        if not self._busy:
            self._busy = True
            asyncio.get_running_loop().call_soon(self._gather, _LOOP_ROUNDS)

    def _gather(self, rounds: int) -> None:
        """Let the event loop go round a few times more: a commit of many costs little more than one of a few."""
        if rounds:
            asyncio.get_running_loop().call_soon(self._gather, rounds - 1)
        else:
            self._next_batch()

    def _next_batch(self) -> None:
        if not self._queue:
            self._busy = False
            return
        loop = asyncio.get_running_loop()
        batch = [self._queue.popleft() for _ in range(min(len(self._queue), MAX_BATCH))]
        try:
            if not all(not callable(work) and self._processor.is_quick(work) for work, _ in batch):
                self._work_in_thread(batch)
                return
            try:
                _resolve(batch, self._work(batch, waits=False))
            except StoreBusyError:  # nothing of the batch was begun
                self._work_in_thread(batch)
                return
        except UnavailableError as error:  # there is no thread to do it
            _resolve(batch, [error] * len(batch))
        except MemoryError as error:  # the next batch must have its turn
            _resolve(batch, [self._doubt(error)] * len(batch))
        loop.call_soon(self._gather, _LOOP_ROUNDS)

    def _work_in_thread(self, batch: Sequence[Waiting]) -> None:
        answers = asyncio.get_running_loop().run_in_executor(self._thread, self._work, batch)
        answers.add_done_callback(lambda done: self._after_thread(batch, done))

    def _after_thread(self, batch: Sequence[Waiting], done: asyncio.Future[list[Any]]) -> None:
        error = done.exception()
        _resolve(batch, done.result() if error is None else [self._doubt(error)] * len(batch))
        self._gather(_LOOP_ROUNDS)

    def _doubt(self, error: BaseException) -> OutcomeUnknownError:
        """The answer to what may have been written before the machine ran out of memory."""
        unknown = OutcomeUnknownError(f"{type(error).__name__} while it was written")
        self._fail(unknown)
        return unknown

    def close(self) -> None:
        """Finish what is queued, and stop. Blocks until that is done."""
        self._closing = True
        unprepared = self._preparer.close()
        self._thread.shutdown()
        rest, self._queue = [*self._queue, *unprepared], deque()
        for first in range(0, len(rest), MAX_BATCH):
            batch = rest[first : first + MAX_BATCH]
            _resolve(batch, self._work(batch))

    @property
    def failed_lately(self) -> bool:
        """Whether the last commit failed, a short time ago."""
        return self._failed_at is not None and time.monotonic() - self._failed_at < _UNREADY_SECONDS

    def _work(self, batch: Sequence[Waiting], *, waits: bool = True) -> list[Any]:
        """Execute the commands together, then call the functions one by one; answers in the order of the batch.

        If `waits` is false, raises a `StoreBusyError` before anything is done where the store is locked.
        """
        commands = [work for work, _ in batch if not callable(work)]
        answers = iter(self._commit(commands, waits=waits) if commands else [])
        return [self._call(work) if callable(work) else next(answers) for work, _ in batch]

    def _commit(self, commands: list[AnyCommand], *, waits: bool) -> list[Any]:
        begin = time.perf_counter()
        try:
            answers: list[Any] = list(self._processor.execute(commands, waits=waits))
        except StoreBusyError:
            raise
        except StoreError as error:
            self._fail(error)
            return [error] * len(commands)
        except Exception as error:
            if len(commands) == 1:
                return [self._doubt(error) if is_shortage(error) else error]
            # One command's error must not fail the others of its batch.
            return [self._commit_alone(command, waits=waits) for command in commands]
        self._failed_at = None
        self._metrics.count_commit(len(commands), time.perf_counter() - begin)
        return answers

    def _commit_alone(self, command: AnyCommand, *, waits: bool) -> Any:
        try:
            return self._commit([command], waits=waits)[0]
        except StoreBusyError as error:  # others of its batch may be committed, so that it is not done again here
            self._fail(error)
            return error

    def _call(self, work: Callable[[], Any]) -> Any:
        try:
            return work()
        except StoreError as error:
            self._fail(error)
            return error
        except Exception as error:
            return self._doubt(error) if is_shortage(error) else error

    def _fail(self, error: StoreError) -> None:
        self._failed_at = time.monotonic()
        self._metrics.failed_commits.inc()
        unknown = isinstance(error, OutcomeUnknownError)
        what = "it is not known whether it was written" if unknown else "nothing of it was written"
        log.error("commit failed, %s: %s", what, error)


def _resolve(batch: Sequence[Waiting], answers: Sequence[Any]) -> None:
    for (_, future), answer in zip(batch, answers, strict=True):
        if future.done():  # the client has disconnected
            continue
        if isinstance(answer, Exception):
            future.set_exception(answer)
        else:
            future.set_result(answer)


class Read(NamedTuple):
    """A read to be written down."""

    trial: int
    at: str
    token: int
    kind: str
    recommendation_id: str | None = None


class AccessLog:
    """The access log of a store, for one process."""

    def __init__(self, store: Store, group_commit: GroupCommit) -> None:
        self._store, self._group_commit = store, group_commit
        self._waiting: list[Read] = []
        self._written: asyncio.Future[None] | None = None  # done when those that wait are written
        self._lock = threading.Lock()  # they are taken by the writer's thread

    async def write(self, read: Read) -> None:
        """Write a read down; returns once it is durable."""
        with self._lock:
            if self._written is None:
                self._written = self._group_commit.run(self._write_waiting)
            self._waiting.append(read)
            written = self._written
        await asyncio.shield(written)  # others wait for it too

    def _write_waiting(self) -> None:
        with self._lock:
            reads, self._waiting, self._written = self._waiting, [], None
        with self._store.writing() as writing:
            # Always in the same order, so that two processes that count up the same rows cannot deadlock.
            for read in sorted(reads, key=lambda read: read[:4]):
                add_access(writing, *read)
