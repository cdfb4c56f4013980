"""Connect to PostgreSQL without endless waits: if a server does not answer before a deadline, the connection is
closed.
"""

import math
import re
import select
import time
from typing import Any, Final, TypeVar

import psycopg
from psycopg.abc import PQGen
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.types.numeric import Int8BinaryDumper, Int8Dumper
from psycopg.waiting import Ready, Wait

from adhere.errors import StoreError

# Every statement has its index. A plan made while tables are empty would scan whole tables, and would be kept.
_SESSION: Final = """
    SELECT set_config('synchronous_commit', 'on', false)
        WHERE current_setting('synchronous_commit') <> 'remote_apply'; -- which is stricter still
    SET plan_cache_mode = force_generic_plan;
    SET enable_seqscan = off;
    SET jit = off;
"""
_EVENTS: Final = {
    Wait.R: select.POLLIN,
    Wait.W: select.POLLOUT,
    Wait.RW: select.POLLIN | select.POLLOUT,
}
_IN_ADDRESS: Final = re.compile(r"(\w+://[^\s:/@\"']*):[^\s\"']*@")
_IN_SETTING: Final = re.compile(r"(\w*password)\s*=\s*('(?:[^'\\]|\\.)*'|[^\s&\"']*)", re.IGNORECASE)
_HOLD = 2.0  # seconds for which a silent server is not asked again, unless a check succeeds

Result = TypeVar("Result")


class DeadlineError(psycopg.OperationalError):
    """The error for a server that did not answer in time."""


_SILENT: Final = (DeadlineError, psycopg.errors.ConnectionTimeout)  # a server that refuses is not silent


class Connection(psycopg.Connection[tuple[Any, ...]]):
    """A connection that is closed if the server is silent for `seconds` while an answer is due (None: never).

    Only silence counts: a long result that keeps arriving is no fault. A connection closed in this way cannot be used
    again, because nobody knows how far the server had come.
    """

    seconds: float | None = None

    def wait(self, gen: PQGen[Result], interval: float = 0.0, timeout: float | None = None) -> Result:
        """Continue psycopg's operation whenever the server is ready."""
        poll, descriptor = select.poll(), self.pgconn.socket
        patience = None if self.seconds is None else self.seconds * 1000.0
        try:
            wanted = next(gen)
            while True:
                poll.register(descriptor, _EVENTS[wanted])
                found = poll.poll(patience)
                if not found:
                    raise DeadlineError(f"no answer within {self.seconds:g} s")
                event = found[0][1]
                if not event & select.POLLOUT:
                    wanted = gen.send(Ready.R)
                else:
                    wanted = gen.send(Ready.RW if event & select.POLLIN else Ready.W)
        except StopIteration as end:
            result: Result = end.value
            return result
        except (DeadlineError, KeyboardInterrupt, SystemExit):
            self.close()
            raise


def connect(settings: dict[str, Any], seconds: float, *, writes: bool = False) -> Connection:
    """Return a connection for `PostgresStore`. The server itself ends statements that would exceed a writer's
    deadline.
    """
    # An address may have two forms (IPv6 and IPv4), which are tried one after the other. libpq waits at least 2 s for
    # each.
    settings = {"connect_timeout": math.ceil(max(2.0, seconds / 2)), **settings}
    connection = Connection.connect(**settings, autocommit=True, prepare_threshold=0)
    connection.seconds = seconds
    limits = f"SET lock_timeout = {int(500 * seconds)};"
    if writes:
        limits += f"SET statement_timeout = {int(900 * seconds)};"
    try:
        connection.execute((_SESSION + limits).encode(), prepare=False)  # needed for several statements
    except BaseException:
        connection.close()
        raise
    # psycopg would use the smallest type for each number, and prepare a statement again for each type.
    for dumper in (Int8Dumper, Int8BinaryDumper):
        connection.adapters.register_dumper(int, dumper)
    return connection


def has_news(connection: Connection) -> bool:
    """Return whether an idle connection has unread bytes, which usually means that its server went away."""
    poll = select.poll()
    poll.register(connection.fileno(), select.POLLIN)
    return bool(poll.poll(0))


def roll_back(connection: Connection) -> None:
    """Roll back a transaction, or close the connection if that is impossible."""
    try:
        connection.execute("ROLLBACK")
    except (psycopg.Error, MemoryError):
        connection.close()


def _wrong_option(settings: dict[str, Any]) -> str | None:
    """Return the name of an option with an invalid value, such as sslmode. Return an empty text if all values are
    valid, and None if libpq does not name the option, as for a port.

    libpq checks options before it connects. Here it connects to no server: the host is a folder that does not exist.
    """
    nowhere = ",".join("/nonexistent" for _ in str(settings.get("host", "")).split(","))
    options = {**settings, "host": nowhere, "hostaddr": "", "passfile": ""}
    said = psycopg.pq.PGconn.connect_start(make_conninfo(**options).encode()).error_message.decode(errors="replace")
    if not said.startswith("invalid "):
        return ""
    return named[1] if (named := re.match(r"invalid (\w+) value: ", said)) else None


class Silence:
    """A record of whether the server was silent a moment ago. If it was, no other request waits for it.

    Otherwise requests queued for a frozen server would wait for their deadlines one after another.
    """

    def __init__(self, patience: float) -> None:
        self._patience = patience
        self._until = -math.inf
        self._since: float | None = None  # when checks began to fail

    def lasts(self) -> bool:
        """Return whether the silence still lasts, in which case a request fails at once."""
        return time.monotonic() < self._until

    def noticed(self, error: psycopg.Error) -> None:
        """Record the error of an operation. If the operation waited until its deadline, later operations fail at once
        for a while.
        """
        if isinstance(error, _SILENT):
            self._until = time.monotonic() + _HOLD

    def checked(self, error: psycopg.Error | None) -> None:
        """Record the result of a check (None: it succeeded). A short silence, for example of a busy machine, does not
        make operations fail.
        """
        now = time.monotonic()
        if not isinstance(error, _SILENT):
            self._since, self._until = None, -math.inf
            return
        self._since = now if self._since is None else self._since
        if self.lasts() or now - self._since > self._patience:
            self._until = now + _HOLD


def without_passwords(text: str) -> str:
    """Hide the password of an address or a setting. Other words remain, even if they equal the password.

    >>> without_passwords("postgresql://a:a@b/a or password=a or sslpassword='a b': a role is missing")
    'postgresql://a:***@b/a or password=*** or sslpassword=***: a role is missing'
    """
    return _IN_SETTING.sub(r"\1=***", _IN_ADDRESS.sub(r"\1:***@", text))


def parse_url(url: str) -> dict[str, Any]:
    """Parse an address. Errors do not repeat unreadable text, which may be part of the password."""
    try:
        settings = conninfo_to_dict(url, client_encoding="utf8")
    except psycopg.Error:
        settings = {"host": "@"}
    if option := _wrong_option(settings):
        raise StoreError(f"the address of the PostgreSQL database: the value of {option} is unknown")
    if option is None or any("@" in str(settings.get(part, "")) for part in ("host", "port", "dbname")):
        raise StoreError(
            "not the address of a PostgreSQL database: expected postgresql://user:password@host/database, "
            "where @ : / and % in a password are written %40 %3A %2F and %25"
        )
    return settings
