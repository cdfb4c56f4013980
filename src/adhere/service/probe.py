"""A probe: a thread that checks the store regularly, so that readiness checks need not wait for the store."""

import threading
import time
from collections.abc import Callable

from adhere.store import StoreError

_EVERY = 0.5  # seconds between two checks
_DEADLINE = 1.0  # seconds without an answer before the store counts as frozen


class StoreProbe:
    """The probe, which calls `check` every half second. `last_error` is the store's error, or None if it works."""

    def __init__(self, check: Callable[[], None]) -> None:
        self._check = check
        self._error: str | None = None
        self._asked_at: float | None = None  # None while no check is running
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._ask, name="probe", daemon=True)

    @property
    def last_error(self) -> str | None:
        """Return the error of the last check, an error if a check takes too long, or None."""
        asked_at = self._asked_at
        if asked_at is not None and time.monotonic() - asked_at > _DEADLINE:
            return "the store does not answer"
        return self._error

    def start(self) -> None:
        """Start the checks."""
        self._thread.start()

    def stop(self) -> None:
        """Stop the checks. A running check is waited for only for a limited time."""
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
            except Exception as error:  # the probe must continue; clients never see the error's text
                self._error = f"{type(error).__name__}: {error}"
            self._asked_at = None
