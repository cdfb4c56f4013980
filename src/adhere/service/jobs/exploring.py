"""Run explorations in a separate process, one after another, and cache them by their settings."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from adhere.errors import UnavailableError
from adhere.exploration.presets import Settings
from adhere.exploration.results import Exploration
from adhere.service.http.problems import ProblemError
from adhere.service.jobs.child_process import ChildProcess, JobProcessError

_MAX_KEPT: Final = 200  # number of explorations, of 10 to 20 kB each


def start() -> Callable[[Settings], Exploration]:
    """Return the function that explores in the process. Its policies stay loaded between explorations."""
    from adhere.exploration.explore import explore  # imported here so that the service itself does not load it

    return explore


class Explorer:
    """The explorations of a service.

    Each user has at most one waiting exploration, because a user who moves a slider again only wants the newest.
    """

    def __init__(self) -> None:
        self._process = ChildProcess(__name__)
        self._waiting: dict[int, tuple[Settings, asyncio.Future[Exploration]]] = {}
        self._kept: OrderedDict[Settings, Exploration] = OrderedDict()
        self._busy = False

    async def explore(self, user: int, settings: Settings) -> Exploration:
        """Return an exploration. Raise `ProblemError` if the same user asked for another exploration before this one
        began.
        """
        if settings in self._kept:
            self._kept.move_to_end(settings)
            return self._kept[settings]
        if user in self._waiting:
            _, older = self._waiting.pop(user)
            if not older.done():
                older.set_exception(ProblemError("conflict", "a newer exploration took the place of this one"))
        future: asyncio.Future[Exploration] = asyncio.get_running_loop().create_future()
        self._waiting[user] = settings, future
        self._next()
        return await future

    def close(self) -> None:
        """End the process at once."""
        for _, future in self._waiting.values():
            if not future.done():
                future.set_exception(JobProcessError("the service is ending"))
        self._waiting.clear()
        self._process.close()

    def _next(self) -> None:
        while self._waiting and not self._busy:
            settings, future = self._waiting.pop(next(iter(self._waiting)))
            if future.done():  # the client has disconnected
                continue
            if settings in self._kept:  # two pages may request the same exploration
                future.set_result(self._kept[settings])
                continue
            try:
                work = self._process.in_thread(self._process.call, settings)
            except UnavailableError as error:
                future.set_exception(error)
                continue
            self._busy = True
            work.add_done_callback(partial(self._done, settings, future))

    def _done(self, settings: Settings, future: asyncio.Future[Exploration], work: asyncio.Future[Any]) -> None:
        self._busy = False
        error = work.exception() if not work.cancelled() else asyncio.CancelledError()
        if error is None:
            self._kept[settings] = work.result()
            if len(self._kept) > _MAX_KEPT:
                self._kept.popitem(last=False)
        if not future.done():
            if error is None:
                future.set_result(work.result())
            else:
                future.set_exception(error)
        self._next()
