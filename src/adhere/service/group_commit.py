"""Group commit: execute all waiting commands in one transaction, and answer them when it is durable.

Committing is the expensive part, so all waiting commands share one commit.

- If no other process writes to the store, ordinary commands are executed in the event loop, which is blocked during
  the commit. A second thread would about double the cost, because of GIL contention.
- If others may lock the store, like in PostgreSQL, commands are executed in a thread. The same applies while another
  program has locked the SQLite file, because the event loop must never wait for a lock.
- Commands that may repeat much learning, or load a policy, are first prepared in another thread
  (`CommandProcessor.prepare`), while other commands continue. Then they are executed like the others.
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
_LOOP_ROUNDS = 4  # rounds of the event loop (about ten microseconds each) in which more commands may arrive
_UNREADY_SECONDS = 10.0  # how long a failed commit makes the service unready

Result = TypeVar("Result")
Work: TypeAlias = AnyCommand | Callable[[], Any]
Waiting: TypeAlias = tuple[Work, asyncio.Future[Any]]

log = logging.getLogger("adhere.service")


class ShutdownError(Exception):
    """The error for a command that arrives while the service is shutting down."""


class GroupCommit:
    """The only writer to the store in this process."""

    def __init__(self, processor: CommandProcessor, metrics: Metrics) -> None:
        self._processor, self._metrics = processor, metrics
        self._queue: deque[Waiting] = deque()
        self._thread = Threads(1, "writer")
        self._preparer = Preparer(processor, self._enqueue)
        self._busy = False  # whether a batch is being executed or gathered
        self._failed_at: float | None = None
        self._closing = False

    def execute(self, command: AnyCommand) -> asyncio.Future[Response]:
        """Execute a command and return its response once it is durable. Raise an `InputError` if it is refused."""
        return self._put(command)

    def run(self, work: Callable[[], Result]) -> asyncio.Future[Result]:
        """Call a function that writes to the store, when its turn comes."""
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
        """Wait a few rounds of the event loop for more commands. Large commits cost little more than small ones."""
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
            except StoreBusyError:  # no command of the batch was begun
                self._work_in_thread(batch)
                return
        except UnavailableError as error:  # no thread is available for the batch
            _resolve(batch, [error] * len(batch))
        except MemoryError as error:  # the next batch must still be executed
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
        """Return the error for commands that may have been written before the machine ran out of memory."""
        unknown = OutcomeUnknownError(f"{type(error).__name__} while it was written")
        self._fail(unknown)
        return unknown

    def close(self) -> None:
        """Finish all queued work and stop. This blocks until the work is done."""
        self._closing = True
        unprepared = self._preparer.close()
        self._thread.shutdown()
        rest, self._queue = [*self._queue, *unprepared], deque()
        for first in range(0, len(rest), MAX_BATCH):
            batch = rest[first : first + MAX_BATCH]
            _resolve(batch, self._work(batch))

    @property
    def failed_lately(self) -> bool:
        """Return whether the last commit failed within the last ten seconds."""
        return self._failed_at is not None and time.monotonic() - self._failed_at < _UNREADY_SECONDS

    def _work(self, batch: Sequence[Waiting], *, waits: bool = True) -> list[Any]:
        """Execute the commands together, then call the functions one by one. Return the answers in the batch's order.

        If `waits` is false and the store is locked, raise a `StoreBusyError` before anything is done.
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
            # One command's error must not affect the others in its batch.
            return [self._commit_alone(command, waits=waits) for command in commands]
        self._failed_at = None
        self._metrics.count_commit(len(commands), time.perf_counter() - begin)
        return answers

    def _commit_alone(self, command: AnyCommand, *, waits: bool) -> Any:
        try:
            return self._commit([command], waits=waits)[0]
        except StoreBusyError as error:  # no retry: other commands of its batch may be committed
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
    """A read to be logged."""

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
        self._written: asyncio.Future[None] | None = None  # done when the waiting reads are written
        self._lock = threading.Lock()  # the writer's thread takes the waiting reads

    async def write(self, read: Read) -> None:
        """Log a read, and return once the entry is durable."""
        with self._lock:
            if self._written is None:
                self._written = self._group_commit.run(self._write_waiting)
            self._waiting.append(read)
            written = self._written
        await asyncio.shield(written)  # other reads wait for the same commit

    def _write_waiting(self) -> None:
        with self._lock:
            reads, self._waiting, self._written = self._waiting, [], None
        with self._store.writing() as writing:
            # The order is fixed, so that two processes that update the same rows cannot deadlock.
            for read in sorted(reads, key=lambda read: read[:4]):
                add_access(writing, *read)
