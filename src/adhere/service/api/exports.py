"""Handlers of a trial as a file, its export and its analysis: written by a job, then streamed to the client."""

import os
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from adhere.service.api.queries import Choice
from adhere.service.context import RequestContext, Service

EXPORTS = {
    "csv": "text/csv; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
    "log": "application/x-ndjson",
}
ANALYSES = {"html": "text/html; charset=utf-8", "json": "application/json"}
_CHUNK = 256 * 1024  # bytes


async def export(context: RequestContext) -> Response:
    """Export a trial as a table (csv, parquet) or its log; X-Adhere-Head is the hash of the last record."""
    form = Choice(tuple(EXPORTS)).read(context.query, "format")
    return await _as_file(context, "log" if form == "log" else "table", form, {"content-type": EXPORTS[form]})


async def analysis(context: RequestContext) -> Response:
    """Analyse a trial as the command adhere analyse does, without the test by replay: a page in one file, or JSON."""
    form = Choice(tuple(ANALYSES)).read(context.query, "format")
    # A page that is opened here could otherwise do what its reader may.
    headers = {"content-disposition": f'attachment; filename="analysis.{form}"', "x-content-type-options": "nosniff"}
    return await _as_file(context, "analysis", form, {"content-type": ANALYSES[form], **headers})


async def _as_file(context: RequestContext, job: str, form: str, headers: Mapping[str, str]) -> Response:
    """Let a job write a file, and return it as a response."""
    service = context.service
    n_records = (await service.head(context.trial)).position
    with ExitStack() as stack:
        # The turn lasts until the file is sent: a token that reads slowly cannot fill the disk with exports.
        stack.enter_context(service.jobs.turn(context.holder.id))
        number, path = tempfile.mkstemp(prefix="adhere-", dir=service.jobs.folder)  # of mode 0600
        file = stack.enter_context(os.fdopen(number, "rb"))
        try:
            arguments = (path,) if job == "log" else (form, path)
            head = await service.jobs.call(job, context.trial, *arguments, n_records=n_records)
        finally:
            Path(path).unlink(missing_ok=True)  # it lasts for as long as it is open, however we end
        more = {"x-adhere-head": head, "cache-control": "no-store"}
        return FileStream(service, file, {**headers, **more}, stack.pop_all())


class FileStream(Response):
    """A file as the body of a response; `at_end` is closed when it is sent, or the client is gone."""

    def __init__(self, service: Service, file: BinaryIO, headers: Mapping[str, str], at_end: ExitStack) -> None:
        self._service, self._file, self._at_end = service, file, at_end
        self._size = os.fstat(file.fileno()).st_size
        self.status_code, self.background, self.body = 200, None, b""
        self.init_headers({**headers, "content-length": str(self._size)})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it piece by piece, as fast as the client takes it."""
        with self._at_end:
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            for _ in range((self._size - 1) // _CHUNK):
                piece = await self._service.in_thread(lambda: self._file.read(_CHUNK))
                await send({"type": "http.response.body", "body": piece, "more_body": True})
            last = await self._service.in_thread(self._file.read)
            self._at_end.close()  # before the client has it all: it may ask for the next export at once
            await send({"type": "http.response.body", "body": last})

    def discard(self) -> None:
        """Give it up unsent."""
        self._at_end.close()
