"""The signals that end the service, once open requests are answered."""

from __future__ import annotations

import signal
import threading
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


def ignore_repeated() -> None:
    """Ignore the signal that ended the server when uvicorn raises it once more: there is nothing left to do."""
    for number in ENDING_SIGNALS if is_main_thread() else ():
        signal.signal(number, lambda _signal, _frame: None)
