"""Handlers of exports and analyses: a job writes the file, which is then streamed to the client."""

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
    """Analyse a trial like the command adhere analyse, without the replay test, as one HTML file or JSON."""
    form = Choice(tuple(ANALYSES)).read(context.query, "format")
    # If a browser opened the page here, its scripts would have the reader's rights.
    headers = {"content-disposition": f'attachment; filename="analysis.{form}"', "x-content-type-options": "nosniff"}
    return await _as_file(context, "analysis", form, {"content-type": ANALYSES[form], **headers})


async def _as_file(context: RequestContext, job: str, form: str, headers: Mapping[str, str]) -> Response:
    """Have a job write a file, and return the file as a response."""
    service = context.service
    n_records = (await service.head(context.trial)).position
    with ExitStack() as stack:
        # The turn lasts until the file is sent, so that a slow reader cannot fill the disk with exports.
        stack.enter_context(service.jobs.turn(context.holder.id))
        number, path = tempfile.mkstemp(prefix="adhere-", dir=service.jobs.folder)  # of mode 0600
        file = stack.enter_context(os.fdopen(number, "rb"))
        try:
            arguments = (path,) if job == "log" else (form, path)
            head = await service.jobs.call(job, context.trial, *arguments, n_records=n_records)
        finally:
            Path(path).unlink(missing_ok=True)  # the file exists until it is closed, however this request ends
        more = {"x-adhere-head": head, "cache-control": "no-store"}
        return FileStream(service, file, {**headers, **more}, stack.pop_all())


class FileStream(Response):
    """A response with a file as its body. `at_end` is closed when the file is sent or the client disconnects."""

    def __init__(self, service: Service, file: BinaryIO, headers: Mapping[str, str], at_end: ExitStack) -> None:
        self._service, self._file, self._at_end = service, file, at_end
        self._size = os.fstat(file.fileno()).st_size
        self.status_code, self.background, self.body = 200, None, b""
        self.init_headers({**headers, "content-length": str(self._size)})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the file piece by piece, as fast as the client reads it."""
        with self._at_end:
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            for _ in range((self._size - 1) // _CHUNK):
                piece = await self._service.in_thread(lambda: self._file.read(_CHUNK))
                await send({"type": "http.response.body", "body": piece, "more_body": True})
            last = await self._service.in_thread(self._file.read)
            self._at_end.close()  # before the last piece is sent: the client may ask for its next export at once
            await send({"type": "http.response.body", "body": last})

    def discard(self) -> None:
        """Close the file without sending it."""
        self._at_end.close()
