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
_READER_THREADS = 4  # for what takes some milliseconds
_BACKGROUND_THREADS = 2  # for what may take seconds,
_COMPILER_THREADS = 2  # and for compiling, which nothing else waits behind


class Service:
    """The parts of a running service, shared by all requests."""

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
        self.results: dict[str, Results] = {}  # the latest of each trial, for as long as its log does not grow
        self.jobs = Jobs(self.processor)
        self.explorer = Explorer()
        self.simulations = Simulations(shared_folder)
        self.monitors = Monitors(self.processor, self.metrics.monitor_seconds.observe, shared_folder)
        self.follow_ups = FollowUps(self.jobs, SiteZones(settings.time_zones))
        self.changes = Changes(self.head_of)
        self.loaded = False  # whether it was tried to load the policy of every open trial
        self.unservable: set[str] = set()  # trials whose policy is not known here
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
        """A trial by its name, from memory unless this process has not seen it yet."""
        known = self.processor.known(name)
        return await self.in_thread(partial(self.processor.trial, name)) if known is None else known

    async def head(self, trial: str) -> Head:
        """The end of a trial's log."""
        return await self.read(lambda view: view.head(self.processor.trial(trial).number))

    async def head_of(self, trial: str) -> str:
        """The hash of the last record of a trial."""
        return (await self.head(trial)).hash.hex()

    async def in_thread(self, work: Callable[[], Result]) -> Result:
        """Call a function that takes some milliseconds in another thread."""
        return await asyncio.get_running_loop().run_in_executor(self._readers, work)

    async def in_background(self, work: Callable[[], Result]) -> Result:
        """Call a function that may take long in another thread, where no short one waits behind it."""
        return await asyncio.get_running_loop().run_in_executor(self._background, work)

    async def in_compiler(self, work: Callable[[], Result]) -> Result:
        """Call a function that may have to compile a policy in another thread."""
        return await asyncio.get_running_loop().run_in_executor(self._compilers, work)

    def refresh(self) -> None:
        """Read tokens and sessions again, which another process may have made or ended."""
        self.tokens.refresh()
        self.sessions.refresh()

    def close(self) -> None:
        """Write what is still queued, then close the store."""
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
    admission: Admission | None = None  # of a request with a valid token
    trial: str = ""
    id: int = -1  # of a token or a simulation
    recommendation_id: str = ""
    idempotency_key: str = ""
    query: bytes = b""
    headers: Sequence[tuple[bytes, bytes]] = ()
    body: Any = None
    since: float | None = None  # an answer is new enough that was computed from this time on; None: from now on

    @property
    def by(self) -> str:
        """The sender of the request in the log."""
        return f"token {self.holder.id}"

    @property
    def request_id(self) -> str:
        """The id of the request in the log; the site is part of it, since sites choose their keys independently."""
        return f"{self.holder.site or ''}/{self.idempotency_key}"

    def execute(self, command: Callable[..., AnyCommand], **fields: Any) -> asyncio.Future[Response]:
        """The answer to a command once it is durable; raises an `InputError` if it is refused."""
        fields.setdefault("site", self.holder.site)
        made = command(trial=self.trial, request_id=self.request_id, by=self.by, **fields)
        return self.service.group_commit.execute(made)


def reading(
    handler: Callable[[RequestContext, ReadTransaction], Result],
) -> Callable[[RequestContext], Awaitable[Result]]:
    """Make a handler of a function of the request and a consistent view of the store, called in another thread."""

    @wraps(handler)
    async def handle(context: RequestContext) -> Result:
        return await context.service.read(partial(handler, context))

    return handle
