"""An open-ended response with server-sent events, until one side disconnects."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from adhere.service.pages.rendering import HEADERS

_FIRST = b"retry: 3000\n\n"  # milliseconds until a browser reconnects after losing the connection


class EventStream(Response):
    """A response with an event "changed" for each text and a comment for each None.

    It ends after the last text, or when `goes_on` returns false. `goes_on` is called before each event, because the
    session may have ended in the meantime.
    """

    def __init__(self, texts: AsyncGenerator[str | None], goes_on: Callable[[], bool]) -> None:
        self._texts, self._goes_on = texts, goes_on
        self.status_code, self.background, self.body = 200, None, b""
        # A proxy must forward each event at once.
        self.init_headers({**HEADERS, "content-type": "text/event-stream", "x-accel-buffering": "no"})
        del self.headers["content-length"]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send events until the client disconnects, the session ends, or the service shuts down."""
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        if scope["method"] == "HEAD":
            await send({"type": "http.response.body", "body": b""})
            return
        await send({"type": "http.response.body", "body": _FIRST, "more_body": True})
        sending = asyncio.create_task(self._send(send))
        leaving = asyncio.create_task(_left(receive))
        try:
            await asyncio.wait((sending, leaving), return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (sending, leaving):
                task.cancel()
            await asyncio.gather(sending, leaving, return_exceptions=True)
        await send({"type": "http.response.body", "body": b""})

    async def _send(self, send: Send) -> None:
        async with aclosing(self._texts) as texts:
            async for text in texts:
                if not self._goes_on():
                    return
                event = b": nothing new\n\n" if text is None else f"event: changed\ndata: {text}\n\n".encode()
                await send({"type": "http.response.body", "body": event, "more_body": True})


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
