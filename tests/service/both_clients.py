"""Both clients behind one face, so that one test tries them in turn."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import wraps
from types import TracebackType
from typing import Any, cast

from adhere.client import AsyncClient, Client


class _Awaited:
    """An AsyncClient whose calls are awaited in an event loop of their own."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._runner = asyncio.Runner()
        self._client = AsyncClient(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._client, name)

        @wraps(method)
        def call(*args: Any, **kwargs: Any) -> Any:
            return self._runner.run(method(*args, **kwargs))

        return call

    def __repr__(self) -> str:
        return repr(self._client)

    def __enter__(self) -> _Awaited:
        self._runner.run(self._client.__aenter__())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._runner.run(self._client.__aexit__(kind, error, where))
        self._runner.close()


# To mypy both are the blocking client: the calls are the same, and that they are is tested.
MakeClient = Callable[..., AbstractContextManager[Client]]
BOTH: dict[str, MakeClient] = {"Client": Client, "AsyncClient": cast("MakeClient", _Awaited)}
