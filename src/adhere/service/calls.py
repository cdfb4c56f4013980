"""What a handler is given: who asks for what, and the parts of the service that can answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from adhere.service.metrics import Metrics
from adhere.service.settings import Settings
from adhere.service.tokens import Holder, Tokens
from adhere.service.writer import Writer
from adhere.store import Reading, Store
from adhere.trial.desk import Desk
from adhere.trial.requests import Answer, AnyRequest
from adhere.trial.results import ResultsCache

Result = TypeVar("Result")
_READERS = 4


class Service:
    """The parts of a running service, shared by all requests."""

    def __init__(self, store: Store, settings: Settings, document: bytes) -> None:
        self.store, self.settings, self.document = store, settings, document
        self.desk = Desk(store)
        self.metrics = Metrics()
        self.writer = Writer(self.desk, self.metrics)
        self.tokens = Tokens(store)
        self.results = ResultsCache()
        self._readers = ThreadPoolExecutor(_READERS, thread_name_prefix="reader")

    async def read(self, work: Callable[[Reading], Result]) -> Result:
        """Do something with a consistent view of the store, on a thread of its own."""

        def reading() -> Result:
            with self.store.reading() as view:
                return work(view)

        return await self.beside(reading)

    async def beside(self, work: Callable[[], Result]) -> Result:
        """Do something that takes time on another thread."""
        return await asyncio.get_running_loop().run_in_executor(self._readers, work)

    def close(self) -> None:
        """Finish what waits to be written, then let go of the store."""
        self.writer.close()
        self._readers.shutdown()
        self.store.close()


class Call:
    """One request, after it was looked over."""

    __slots__ = ("body", "holder", "id", "key", "query", "service", "trial")

    def __init__(self, service: Service) -> None:
        self.service = service
        self.holder: Holder
        self.trial = ""
        self.id = -1
        self.key = ""
        self.query = b""
        self.body: Any = None

    @property
    def request(self) -> str:
        """The id of the request in the log: sites make up theirs each for itself."""
        return f"{self.holder.site or ''}/{self.key}"

    def ask(self, request: AnyRequest) -> asyncio.Future[Answer]:
        """The answer of the trial; raises if it refuses."""
        return self.service.writer.ask(request)
