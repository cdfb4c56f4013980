"""Rate limits: token buckets."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Hashable

_MAX_BUCKETS = 10_000


class RateLimit:
    """So many requests a second for each key, and so many at once after a rest.

    >>> limit = RateLimit(rate=1, burst=2, clock=lambda: 0.0)
    >>> [limit.wait("me") for _ in range(3)]
    [0.0, 0.0, 1.0]
    """

    def __init__(self, rate: float, burst: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._burst, self._clock = rate, burst, clock
        # For each key, the time at which its bucket will be full again: that is all of its state.
        self._full_at: dict[Hashable, float] = {}

    def wait(self, key: Hashable) -> float:
        """0 if a request may pass now, which is then counted; otherwise the seconds until one may."""
        now = self._clock()
        full_at = max(self._full_at.get(key, now), now) + 1.0 / self._rate
        late = full_at - now - self._burst / self._rate
        if late > 1e-9:
            return late
        if len(self._full_at) >= _MAX_BUCKETS and key not in self._full_at:
            self._full_at = {known: at for known, at in self._full_at.items() if at > now}
        self._full_at[key] = full_at
        return 0.0

    def refund(self, key: Hashable) -> None:
        """Take back the counting of a request."""
        self._full_at[key] = self._full_at.get(key, self._clock()) - 1.0 / self._rate


def retry_after(seconds: float) -> str:
    """The seconds to wait, as the value of the header Retry-After.

    >>> retry_after(0.2)
    '1'
    """
    return str(max(1, math.ceil(seconds)))
