"""Probe: a thread that asks the store again and again whether it answers, so that readiness need not wait for it."""

import threading
import time
from collections.abc import Callable

from adhere.store import StoreError

_EVERY = 0.5  # seconds between two questions
_DEADLINE = 1.0  # seconds without an answer after which the store counts as frozen


class StoreProbe:
    """Calls `check` every half second; `last_error` says what is wrong with the store, None if nothing is."""

    def __init__(self, check: Callable[[], None]) -> None:
        self._check = check
        self._error: str | None = None
        self._asked_at: float | None = None  # None while there is no question under way
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._ask, name="probe", daemon=True)

    @property
    def last_error(self) -> str | None:
        """The error that the last question brought up, or that it was not answered in time."""
        asked_at = self._asked_at
        if asked_at is not None and time.monotonic() - asked_at > _DEADLINE:
            return "the store does not answer"
        return self._error

    def start(self) -> None:
        """Begin to ask."""
        self._thread.start()

    def stop(self) -> None:
        """Ask no more. A question under way is not waited for longer than it may take."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(_DEADLINE)

    def _ask(self) -> None:
        while not self._stopping.wait(_EVERY):
            self._asked_at = time.monotonic()
            try:
                self._check()
                self._error = None
            except StoreError as error:
                self._error = str(error)
            except Exception as error:  # the probe must go on; what it says is shown to nobody outside
                self._error = f"{type(error).__name__}: {error}"
            self._asked_at = None
