"""The context of one request, and the parts of the service that all requests share."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import partial, wraps
from typing import Any, TypeVar

from adhere.access.sessions import Sessions
from adhere.access.tokens import Tokens
from adhere.service.changes import Changes
from adhere.service.group_commit import AccessLog, GroupCommit
from adhere.service.http.limits import Admission
from adhere.service.jobs.exploring import Explorer
from adhere.service.jobs.jobs import FollowUps, Jobs
from adhere.service.jobs.monitors import Monitors
from adhere.service.jobs.simulations import Simulations
from adhere.service.metrics import Metrics
from adhere.service.probe import StoreProbe
from adhere.service.settings import ServiceSettings
from adhere.service.threads import Threads
from adhere.site_zones import SiteZones
from adhere.store import Head, ReadTransaction, Store, Token
from adhere.trial.domain.commands import AnyCommand, Response
from adhere.trial.monitoring.results import Results
from adhere.trial.writing.processor import CommandProcessor
from adhere.trial.writing.transaction import LiveTrial

Result = TypeVar("Result")
_READER_THREADS = 4  # for work of a few milliseconds
_BACKGROUND_THREADS = 2  # for work that may take seconds
_COMPILER_THREADS = 2  # for compiling, so that other work does not wait for it


class Service:
    """A running service: its parts, which all requests share."""

    def __init__(
        self, store: Store, settings: ServiceSettings, openapi: bytes, shared_folder: str | None = None
    ) -> None:
        self.store, self.settings, self.openapi = store, settings, openapi
        self.metrics = Metrics(are_open=settings.metrics_open)
        self.processor = CommandProcessor(store, on_events=self.metrics.count_events)
        self.group_commit = GroupCommit(self.processor, self.metrics)
        self.access_log = AccessLog(store, self.group_commit)
        self.tokens = Tokens(store)
        self.sessions = Sessions(store, self.tokens, settings.session_hours)
        self.results: dict[str, Results] = {}  # the latest results of each trial, valid until its log grows
        self.jobs = Jobs(self.processor)
        self.explorer = Explorer()
        self.simulations = Simulations(shared_folder)
        self.monitors = Monitors(self.processor, self.metrics.monitor_seconds.observe, shared_folder)
        self.follow_ups = FollowUps(self.jobs, SiteZones(settings.time_zones))
        self.changes = Changes(self.head_of)
        self.loaded = False  # whether loading was attempted for every open trial's policy
        self.unservable: set[str] = set()  # trials with a policy that this process does not know
        self.probe = StoreProbe(store.check)
        self._readers = Threads(_READER_THREADS, "reader")
        self._background = Threads(_BACKGROUND_THREADS, "background")
        self._compilers = Threads(_COMPILER_THREADS, "background-compiler")

    async def read(self, work: Callable[[ReadTransaction], Result]) -> Result:
        """Call a function with a consistent view of the store, in another thread."""

        def reading() -> Result:
            with self.store.reading() as view:
                return work(view)

        return await self.in_thread(reading)

    async def trial(self, name: str) -> LiveTrial:
        """Return a trial by name, from memory if this process has used it before."""
        known = self.processor.known(name)
        return await self.in_thread(partial(self.processor.trial, name)) if known is None else known

    async def head(self, trial: str) -> Head:
        """Return the head of a trial's log."""
        return await self.read(lambda view: view.head(self.processor.trial(trial).number))

    async def head_of(self, trial: str) -> str:
        """Return the hash of the last record of a trial, in hexadecimal digits."""
        return (await self.head(trial)).hash.hex()

    async def in_thread(self, work: Callable[[], Result]) -> Result:
        """Call a function in another thread. The function should take a few milliseconds."""
        return await asyncio.get_running_loop().run_in_executor(self._readers, work)

    async def in_background(self, work: Callable[[], Result]) -> Result:
        """Call a slow function in a thread for slow work, so that fast functions do not wait for it."""
        return await asyncio.get_running_loop().run_in_executor(self._background, work)

    async def in_compiler(self, work: Callable[[], Result]) -> Result:
        """Call a function that may compile a policy, in a thread for compiling."""
        return await asyncio.get_running_loop().run_in_executor(self._compilers, work)

    def refresh(self) -> None:
        """Read tokens and sessions again, because other processes may have added or ended some."""
        self.tokens.refresh()
        self.sessions.refresh()

    def close(self) -> None:
        """Write everything that is still queued, then close the store."""
        self.probe.stop()
        self.group_commit.close()
        self.jobs.close()
        self.explorer.close()
        self.simulations.close()
        self.monitors.close()
        self._readers.shutdown()
        self._background.shutdown(cancel_futures=True)
        self._compilers.shutdown(cancel_futures=True)
        self.store.close()


@dataclass(slots=True)
class RequestContext:
    """One request, parsed and authenticated."""

    service: Service
    holder: Token = field(init=False)
    admission: Admission | None = None  # set if the request has a valid token
    trial: str = ""
    id: int = -1  # the number of a token or a simulation
    recommendation_id: str = ""
    idempotency_key: str = ""
    query: bytes = b""
    headers: Sequence[tuple[bytes, bytes]] = ()
    body: Any = None
    since: float | None = None  # the answer must be computed at this time or later; None: from now on

    @property
    def by(self) -> str:
        """Return the sender of the request, in the form used in the log."""
        return f"token {self.holder.id}"

    @property
    def request_id(self) -> str:
        """Return the request's ID for the log. It includes the site, because sites choose keys independently."""
        return f"{self.holder.site or ''}/{self.idempotency_key}"

    def execute(self, command: Callable[..., AnyCommand], **fields: Any) -> asyncio.Future[Response]:
        """Execute a command and return its response once it is durable. Raise an `InputError` if it is refused."""
        fields.setdefault("site", self.holder.site)
        made = command(trial=self.trial, request_id=self.request_id, by=self.by, **fields)
        return self.service.group_commit.execute(made)


def reading(
    handler: Callable[[RequestContext, ReadTransaction], Result],
) -> Callable[[RequestContext], Awaitable[Result]]:
    """Make a handler from a function of the request and a view of the store, which is called in another thread."""

    @wraps(handler)
    async def handle(context: RequestContext) -> Result:
        return await context.service.read(partial(handler, context))

    return handle
