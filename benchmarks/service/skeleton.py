"""The yardstick: a durable log behind HTTP and nothing else, on Starlette, uvicorn and SQLite.

It has the service's two routes and its durability (WAL, synchronous=FULL, one fsync for all requests that wait), but
no bandit: the service's pairs a second are held against its. python -m benchmarks.service.skeleton --help.
"""

from __future__ import annotations

import argparse
import asyncio
import queue
import sqlite3
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import msgspec
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

TOKEN = "yardstick"
_MOST_AT_ONCE = 1000  # events in a statement, whose values SQLite limits to 32,766
_AUTHORIZATION = f"Bearer {TOKEN}"
_SCHEMA = """
CREATE TABLE IF NOT EXISTS events (
    trial TEXT NOT NULL, position INTEGER NOT NULL, request TEXT NOT NULL UNIQUE, body BLOB NOT NULL,
    hash BLOB NOT NULL, PRIMARY KEY (trial, position)
) WITHOUT ROWID
"""
Row = tuple[str, int, str, bytes, bytes]  # trial, position, request, body, hash


class Recommend(msgspec.Struct):
    """What a client sends for a recommendation."""

    subject: str


class Report(msgspec.Struct):
    """What a client sends of what came of one."""

    actual: str
    reward: float


class Answer(msgspec.Struct):
    """What it hears."""

    recommendation_id: str
    arm: str


@dataclass(frozen=True, slots=True)
class Event:
    """A request to be logged, and who waits for its position."""

    trial: str
    request: str
    body: bytes
    logged: asyncio.Future[int]


def connect(database: Path) -> sqlite3.Connection:
    """The log, as durable as the service's."""
    connection = sqlite3.connect(database, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute(_SCHEMA)
    return connection


class Log:
    """Positions and hashes of the trials, and the rows to be written."""

    def __init__(self, database: Path) -> None:
        self.connection = connect(database)
        self._last: dict[str, tuple[int, bytes]] = {}

    def row(self, event: Event) -> Row:
        """The next row of the event's trial, whose hash covers the one before."""
        position, previous = self._last.get(event.trial) or self._stored(event.trial)
        last = self._last[event.trial] = position + 1, sha256(previous + event.body).digest()
        return event.trial, last[0], event.request, event.body, last[1]

    def _stored(self, trial: str) -> tuple[int, bytes]:
        query = "SELECT position, hash FROM events WHERE trial = ? ORDER BY position DESC LIMIT 1"
        found: tuple[int, bytes] | None = self.connection.execute(query, (trial,)).fetchone()
        return found or (0, b"")

    def insert(self, rows: list[Row]) -> None:
        """Put rows on the disk, all of them or none."""
        places = ", ".join(["(?, ?, ?, ?, ?)"] * len(rows))
        self.connection.execute(f"INSERT INTO events VALUES {places}", [value for row in rows for value in row])

    def forget(self) -> None:
        """Read positions and hashes from the database again, after a transaction that failed."""
        self._last.clear()

    def earlier(self, request: str) -> int | None:
        """The position of a request that came before."""
        query = "SELECT position FROM events WHERE request = ?"
        found: tuple[int] | None = self.connection.execute(query, (request,)).fetchone()
        return found[0] if found else None


class Writer:
    """One thread that writes all events that wait in one statement, which is one transaction and one fsync.

    One statement, so that the thread gives the interpreter lock away, and must get it back from the event loop, once
    a batch and not once a row; one call into the loop for all who wait, so that it is woken once.
    """

    def __init__(self, database: Path, loop: asyncio.AbstractEventLoop) -> None:
        self._log, self._loop = Log(database), loop
        self._waiting: queue.SimpleQueue[Event | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="writer")
        self._thread.start()

    def append(self, trial: str, request: str, body: bytes) -> asyncio.Future[int]:
        """The event's position in its trial, once it is on the disk."""
        event = Event(trial, request, body, self._loop.create_future())
        self._waiting.put(event)
        return event.logged

    def close(self) -> None:
        """Write what waits, and end."""
        self._waiting.put(None)
        self._thread.join()
        self._log.connection.close()

    def _work(self) -> None:
        while (first := self._waiting.get()) is not None:
            batch = [first]
            closing = False
            for _ in range(min(self._waiting.qsize(), _MOST_AT_ONCE)):
                event = self._waiting.get()
                if event is None:
                    closing = True
                    break
                batch.append(event)
            self._loop.call_soon_threadsafe(_answer, batch, self._write(batch))
            if closing:
                return

    def _write(self, batch: list[Event]) -> list[int | Exception]:
        try:
            rows = [self._log.row(event) for event in batch]
            self._log.insert(rows)
            return [row[1] for row in rows]
        except sqlite3.IntegrityError:  # a request that came before: rare, so one by one will do
            self._log.forget()
            return [self._write_one(event) for event in batch]
        except sqlite3.Error as error:
            self._log.forget()
            return [error] * len(batch)

    def _write_one(self, event: Event) -> int | Exception:
        try:
            if (position := self._log.earlier(event.request)) is not None:
                return position
            row = self._log.row(event)
            self._log.insert([row])
            return row[1]
        except sqlite3.Error as error:
            self._log.forget()
            return error


def _answer(batch: list[Event], found: list[int | Exception]) -> None:
    for event, position in zip(batch, found, strict=True):
        if event.logged.cancelled():  # the client has gone
            continue
        if isinstance(position, Exception):
            event.logged.set_exception(position)
        else:
            event.logged.set_result(position)


def application(database: Path, recommend_bytes: int, report_bytes: int) -> Starlette:
    """The two routes; what a request logs is its body, filled up to so many bytes."""
    encode = msgspec.json.Encoder().encode
    recommended, reported = msgspec.json.Decoder(Recommend).decode, msgspec.json.Decoder(Report).decode
    writer: Writer

    async def logged(request: Request, body: bytes, size: int) -> Response:
        position = await writer.append(
            request.path_params["trial"], request.headers["idempotency-key"], body.ljust(size)
        )
        return Response(encode(Answer(str(position), "a")), media_type="application/json")

    async def recommend(request: Request) -> Response:
        if request.headers.get("authorization") != _AUTHORIZATION:
            return Response(status_code=401)
        recommended(body := await request.body())
        return await logged(request, body, recommend_bytes)

    async def report(request: Request) -> Response:
        if request.headers.get("authorization") != _AUTHORIZATION:
            return Response(status_code=401)
        reported(body := await request.body())
        return await logged(request, body, report_bytes)

    async def healthy(_request: Request) -> Response:
        return Response()

    @asynccontextmanager
    async def life(_app: Starlette) -> AsyncIterator[None]:
        nonlocal writer
        writer = Writer(database, asyncio.get_running_loop())
        yield
        writer.close()

    routes = [
        Route("/healthz", healthy),
        Route("/trials/{trial}/recommendations", recommend, methods=["POST"]),
        Route("/trials/{trial}/recommendations/{id}/reports", report, methods=["POST"]),
    ]
    return Starlette(routes=routes, lifespan=life)


def main() -> int:
    """Serve until told to stop."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.service.skeleton", description="A bare durable log.")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--database", type=Path, required=True)
    parser.add_argument("--recommend-bytes", type=int, default=300, help="of an event that a recommendation logs")
    parser.add_argument("--report-bytes", type=int, default=300, help="of an event that a report logs")
    given = parser.parse_args()
    uvicorn.run(
        application(given.database, given.recommend_bytes, given.report_bytes),
        host="127.0.0.1",
        port=given.port,
        loop="uvloop",
        http="httptools",
        access_log=False,
        log_level="warning",
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
