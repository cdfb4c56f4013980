"""People who watch a trial: each listens for changes and then asks for the parts of the page, as its script does.

They are a process of their own: `python -m benchmarks.monitor.listening PORT TRIAL COOKIE…`, until its input ends.
"""

from __future__ import annotations

import http.client
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from urllib.parse import urlencode


def _listen(port: int, cookie: str, trial: str) -> None:
    headers = {"Cookie": cookie}
    events, parts = (http.client.HTTPConnection("127.0.0.1", port, timeout=120) for _ in range(2))
    with suppress(OSError, http.client.HTTPException):  # as at the end
        events.request("GET", f"/app/trials/{trial}/monitor/events", headers=headers)
        answer = events.getresponse()
        while line := answer.readline():
            if line.startswith(b"data:"):
                head = line.removeprefix(b"data:").strip().decode()
                parts.request(
                    "GET", f"/app/trials/{trial}/monitor?head={head}", headers={**headers, "HX-Request": "true"}
                )
                assert b"part-head" in parts.getresponse().read()
                sys.stdout.write("refreshed\n")  # at once: print would write the end of the line by itself
                sys.stdout.flush()


def signed_in(port: int, token: str) -> str:
    """The cookie of a new session."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    connection.request("POST", "/app/sign-in", urlencode({"token": token}), headers)
    return str(connection.getresponse().getheader("set-cookie")).partition(";")[0]


@contextmanager
def listeners(port: int, cookies: Sequence[str], trial: str) -> Iterator[None]:
    """Watch with each of these sessions for as long as the block lasts; it begins once each has the page."""
    command = [sys.executable, "-m", __name__, str(port), trial, *cookies]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        for _ in cookies:
            assert process.stdout.readline() == b"refreshed\n"
        drain = threading.Thread(target=process.stdout.read, daemon=True)
        drain.start()
        yield
    finally:
        process.stdin.close()
        process.wait(30)


def main() -> None:
    """Listen until the input ends."""
    port, trial, *cookies = sys.argv[1:]
    for cookie in cookies:
        threading.Thread(target=_listen, args=(int(port), cookie, trial), daemon=True).start()
    sys.stdin.read()


if __name__ == "__main__":
    main()
