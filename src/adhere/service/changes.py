"""Watch trials' logs for changes. One read of a log's head, at most every two seconds, serves all listeners.

The head is read from the store, so that changes by any process of the service are seen.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing

from adhere.errors import StoreError, UnavailableError

EVERY = 2.0  # seconds between two reads of a head, and so the least time between two notifications
# Seconds between notifying two listeners (less if there are many). Each then requests a page, and other requests
# are answered in between.
_BETWEEN_LISTENERS = 0.04
_MAX_NOTICED = 8  # number of heads with a stored time of discovery
_QUIET = 10.0  # seconds without a change after which listeners get a sign of life; otherwise proxies would disconnect

log = logging.getLogger("adhere.service")


class Changes:
    """The trials with listeners in one process."""

    def __init__(self, head_of: Callable[[str], Awaitable[str]], every: float | None = None) -> None:
        self._head_of, self._every = head_of, every  # None means EVERY
        self._watched: dict[str, _Watched] = {}
        self._ended = False

    async def heads(self, trial: str) -> AsyncGenerator[str | None]:
        """Yield the head of a trial's log now and after each change, and None from time to time without a change."""
        if trial not in self._watched:
            self._watched[trial] = _Watched(trial, self._head_of, EVERY if self._every is None else self._every)
        watched = self._watched[trial]
        if self._ended:
            watched.end()
        try:
            async with aclosing(watched.heads()) as found:
                async for head in found:
                    yield head
        finally:
            if not watched.news:
                watched.task.cancel()
                self._watched.pop(trial, None)

    def noticed_at(self, trial: str, head: str) -> float | None:
        """Return when a head was first seen (`time.monotonic`), or None if this process does not know it."""
        watched = self._watched.get(trial)
        return watched.noticed.get(head) if watched is not None else None

    def end(self) -> None:
        """Disconnect all listeners and accept no others."""
        self._ended = True
        for watched in self._watched.values():
            watched.end()


class _Watched:
    """A trial with listeners. Its head is read regularly until the last listener leaves."""

    def __init__(self, trial: str, head_of: Callable[[str], Awaitable[str]], every: float) -> None:
        self._trial, self._head_of, self._every = trial, head_of, every
        self._head: str | None = None
        self.noticed: OrderedDict[str, float] = OrderedDict()  # the last few heads
        self._ended = False
        self.news: list[asyncio.Event] = []  # one event per listener, set when the listener may read the head
        self.task = asyncio.create_task(self._look())

    async def heads(self) -> AsyncGenerator[str | None]:
        """Yield heads like `Changes.heads`."""
        told, news = None, asyncio.Event()
        self.news.append(news)
        try:
            while not self._ended:
                news.clear()
                if self._head is not None and self._head != told:
                    told = self._head
                    yield told
                    continue
                try:
                    await asyncio.wait_for(news.wait(), _QUIET)
                except TimeoutError:
                    yield None
        finally:
            self.news.remove(news)

    def end(self) -> None:
        """Disconnect all listeners."""
        self._ended = True
        for news in self.news:
            news.set()

    async def _look(self) -> None:
        while True:
            try:
                head = await self._head_of(self._trial)
            except (StoreError, UnavailableError, OSError) as error:
                log.warning("the head of trial %r cannot be read: %s", self._trial, error)
            else:
                if head != self._head:
                    self._head = head
                    self.noticed[head] = time.monotonic()
                    while len(self.noticed) > _MAX_NOTICED:
                        self.noticed.popitem(last=False)
                    self._tell()
            await asyncio.sleep(self._every)

    def _tell(self) -> None:
        """Notify the listeners one after the other, all before the next read of the head."""
        between = min(_BETWEEN_LISTENERS, self._every / max(1, len(self.news)))
        for place, news in enumerate(self.news):
            asyncio.get_running_loop().call_later(place * between, news.set)
