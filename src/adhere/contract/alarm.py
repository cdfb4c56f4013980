"""A limit on how long one step of a policy may take: a loop that never ends must not hang its check."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

SECONDS = 20.0


@contextmanager
def limited() -> Iterator[None]:
    """Raise a `TimeoutError` where the block still runs after some seconds; in threads and on Windows, never."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGALRM, _stop)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def _stop(number: int, frame: FrameType | None) -> NoReturn:
    raise TimeoutError(f"still running after {SECONDS:g} seconds; does the loop end?")
