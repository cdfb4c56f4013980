"""The signals that end the service, once open requests are answered."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Final


def _ending_signals() -> tuple[int, ...]:
    hangup = getattr(signal, "SIGHUP", None)  # Windows has none
    # A caller that ignores it, such as nohup, wants the service to survive it.
    if hangup is None or signal.getsignal(hangup) is signal.SIG_IGN:
        return (signal.SIGTERM, signal.SIGINT)
    return (signal.SIGTERM, signal.SIGINT, hangup)


ENDING_SIGNALS: Final = _ending_signals()


def is_main_thread() -> bool:
    """Whether this thread may handle signals."""
    return threading.current_thread() is threading.main_thread()


def end_by(handler: Callable[[int, FrameType | None], None]) -> None:
    """Call a handler at each signal that ends the service.

    It is set before the server sets its own, so that no signal is lost meanwhile, and stays when the server has
    removed those, since uvicorn then raises the signal that ended it once more.
    """
    for number in ENDING_SIGNALS if is_main_thread() else ():
        signal.signal(number, handler)
