"""The demo's service: a separate process in a temporary folder that exits and cleans up however the demo ends."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final

from adhere.errors import InputError, StoreError, UnavailableError

_ADDRESS: Final = "Serving on "
_TOKEN: Final = "admin-token"
_STOP_SECONDS: Final = 10.0


@contextmanager
def demo_service(port: int) -> Iterator[tuple[str, str]]:
    """Serve a new store in a temporary folder until the block ends, and delete it then.

    Yield the service's address and its admin's token. The service holds the other end of a pipe. If this process is
    killed, the pipe closes, and the service exits and deletes the folder itself.
    """
    folder = Path(tempfile.mkdtemp(prefix="adhere-demo-"))  # only readable by its owner
    try:
        with tempfile.TemporaryFile("w+", encoding="utf-8") as log, _started(folder, port, log) as process:
            try:
                yield _address(process, log), (folder / _TOKEN).read_text(encoding="utf-8").strip()
            finally:
                _stop(process)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _started(folder: Path, port: int, log: IO[str]) -> subprocess.Popen[str]:
    command = [sys.executable, "-P", "-c", f"from {__name__} import main; main({str(folder)!r}, {port})"]
    pipe = subprocess.PIPE
    # In a session of its own, so that Ctrl-C only reaches the demo, which then ends the service.
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=log, text=True, start_new_session=True)


def _address(process: subprocess.Popen[str], log: IO[str]) -> str:
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith(_ADDRESS):
            return line.removeprefix(_ADDRESS).strip()
    log.seek(0)
    last = log.read().strip().rpartition("\n")[2]
    raise UnavailableError(f"the demo's service did not start: {last or 'it gave no reason'}")


def _stop(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.close()
    try:
        process.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()


def main(folder: str, port: int) -> None:
    """Serve until standard input ends, which happens however the demo ends; then delete the folder."""
    threading.Thread(target=_end_with_input, daemon=True).start()
    from adhere.service.serve import serve
    from adhere.service.settings import ServiceSettings
    from adhere.service.starting import StartError

    place = Path(folder)
    try:
        serve(
            ServiceSettings(
                data=str(place / "adhere.db"),
                port=port,
                admin_token_file=str(place / _TOKEN),
                log_level="warning",
                last_use_every=5.0,  # visible on the page Access
                start_seconds=0.0,  # an error is reported at once
                shutdown_seconds=1,  # open pages would delay the shutdown
            )
        )
    except (InputError, StoreError, StartError) as error:
        sys.exit(str(error))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _end_with_input() -> None:
    sys.stdin.read()
    os.kill(os.getpid(), signal.SIGTERM)
