"""Scheduled verification: verify the logs of all trials regularly, each against its last verified head.

A fault is logged and counted, but the service stays ready. People decide whether a trial with a changed log should
continue, and other trials are not affected.

The file of verified heads gets a line of JSON each time that a trial's log is found intact. Lines are only appended,
so that the file can be sent elsewhere line by line. A log alone does not show that its last records were cut off. A
head stored where the log's keepers cannot change it does show this.
"""

import logging
import os
import time
from datetime import datetime
from functools import partial
from pathlib import Path

import filelock
import msgspec

from adhere.errors import InputError
from adhere.service.context import Service
from adhere.service.jobs.child_process import JobProcessError
from adhere.store import StoreError
from adhere.trial.log.verify import VerificationResult
from adhere.trial.writing.processor import utc_now

_BEGINNING = b'{"at"'


class VerifiedHead(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A verified head: the time at which a trial's log was intact, and the position and hash of its last record."""

    at: datetime
    trial: str
    record: int
    head: str


class HeadsFileError(Exception):
    """The error for an unreadable line in the file of verified heads."""


def read_heads(path: Path) -> dict[str, VerifiedHead]:
    """Return the latest head of each trial. An incomplete last line is ignored."""
    try:
        whole, _, rest = path.read_bytes().rpartition(b"\n")
    except FileNotFoundError:
        return {}
    if not rest.startswith(_BEGINNING[: len(rest)]):  # the next append would overwrite it
        raise HeadsFileError(f"{path}, last line: it is not the beginning of a head")
    found: dict[str, VerifiedHead] = {}
    for number, line in enumerate(whole.splitlines(), 1):
        try:
            head = msgspec.json.decode(line, type=VerifiedHead)
        except msgspec.DecodeError as error:
            raise HeadsFileError(f"{path}, line {number}: {error}") from None
        found[head.trial] = head
    return found


def check_heads_file(path: Path) -> None:
    """Refuse a folder, or a file with other contents."""
    try:
        read_heads(path)
    except (HeadsFileError, OSError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise InputError("--verify-heads", str(path), f"a file of verified heads, or a new one ({why})") from None


def append_head(path: Path, head: VerifiedHead) -> None:
    """Append a line durably, completely or not at all. Only the owner can read a new file."""
    line = msgspec.json.encode(head) + b"\n"
    file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        end = _end_of_lines(file)
        os.ftruncate(file, end)
        try:
            if os.write(file, line) < len(line):
                raise OSError(f"{path}: the disk is full")
            os.fsync(file)
        except OSError:
            os.ftruncate(file, end)
            raise
    finally:
        os.close(file)


def _end_of_lines(file: int) -> int:
    """Return the position at which the last complete line ends."""
    size = os.fstat(file).st_size
    tail = min(size, 1 << 16)
    return size - tail + os.pread(file, tail, size - tail).rfind(b"\n") + 1


log = logging.getLogger("adhere.service")


class Verifier:
    """The verifier of all trials, which verifies each trial once in `every` seconds. Restarts cause no delay, because
    the file has the time of each verification.
    """

    def __init__(self, service: Service, file: Path, every: float) -> None:
        self._service, self._file, self._every = service, file, every
        self._faulty: dict[str, float] = {}  # the time of each fault, by the monotonic clock

    async def verify_due(self) -> None:
        """Verify the trials that are due, unless another worker is doing so."""
        lock = filelock.FileLock(f"{self._file}.lock", timeout=0, thread_local=False)
        try:
            await self._service.in_background(lock.acquire)
        except filelock.Timeout:
            return
        except OSError as error:
            self._fault("%s.lock cannot be written: %s", self._file, error.strerror)
            return
        try:
            await self._round()
        except HeadsFileError as error:
            self._fault("%s", error)
        except OSError as error:
            self._fault("%s cannot be read or written: %s", self._file, error.strerror or error)
        finally:
            lock.release()

    async def _round(self) -> None:
        service = self._service
        trials = await service.read(lambda view: list(view.trials()))
        heads = await service.in_background(partial(read_heads, self._file))
        for name in [*trials, *(name for name in heads if name not in trials)]:
            if self._is_due(name, heads.get(name), utc_now()):
                if name in trials:
                    await self._verify(name, heads)
                else:
                    self._faulty[name] = time.monotonic()
                    self._fault("trial %s has a head in %s and is not in the store", name, self._file)
        times = [heads[name].at.timestamp() if name in heads else 0.0 for name in trials]
        service.metrics.set_verified(min(times, default=utc_now().timestamp()))

    def _is_due(self, name: str, last: VerifiedHead | None, now: datetime) -> bool:
        if name in self._faulty and time.monotonic() - self._faulty[name] < self._every:
            return False
        # A time in the future does not count either, because a clock that was set back must not delay verification.
        return last is None or not 0 <= (now - last.at).total_seconds() < self._every

    async def _verify(self, name: str, heads: dict[str, VerifiedHead]) -> None:
        service, last = self._service, heads.get(name)
        try:
            n_records = await service.read(lambda view: view.head(view.trials()[name]).position)
            head = None if last is None else last.head
            verdict: VerificationResult = await service.jobs.call("verify", name, head, n_records=n_records)
        except (StoreError, JobProcessError) as error:
            # This may not be a fault of the log, so it is not counted; the metric of the last success shows it.
            log.error("scheduled verification: trial %s could not be read: %s", name, error)
            return
        if verdict.fault is not None:
            self._faulty[name] = time.monotonic()
            self._fault("trial %s, %s", name, verdict.fault)
            return
        heads[name] = VerifiedHead(utc_now(), name, verdict.n_records, verdict.head)
        await self._service.in_background(partial(append_head, self._file, heads[name]))

    def _fault(self, message: str, *values: object) -> None:
        self._service.metrics.verify_faults.inc()
        log.error(f"scheduled verification: {message}", *values)
