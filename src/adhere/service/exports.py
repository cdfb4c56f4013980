"""Handler of exports."""

from __future__ import annotations

import tempfile
from pathlib import Path

from starlette.background import BackgroundTask
from starlette.responses import FileResponse

from adhere.errors import InputError
from adhere.service.context import RequestContext
from adhere.service.queries import query_value
from adhere.store import ReadTransaction
from adhere.trial.log.export import write_log, write_table

_MEDIA = {
    "csv": "text/csv; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
    "log": "application/x-ndjson",
}


async def export(context: RequestContext) -> FileResponse:
    """Export a trial as a table (csv, parquet) or its log; X-Adhere-Head is the hash of the last record."""
    form = _format(context.query)
    folder = tempfile.TemporaryDirectory(prefix="adhere-")
    path = Path(folder.name) / f"trial.{form}"

    def write(view: ReadTransaction) -> str:
        live = context.service.processor.trial(context.trial)
        if form == "log":
            return write_log(view, live.number, path)
        return write_table(view, live.number, live.design, path, form)

    try:
        head = await context.service.read(write)
    except BaseException:
        folder.cleanup()
        raise
    headers = {"x-adhere-head": head, "cache-control": "no-store"}
    return FileResponse(path, media_type=_MEDIA[form], headers=headers, background=BackgroundTask(folder.cleanup))


def _format(query: bytes) -> str:
    expected = f"one of {', '.join(_MEDIA)}"
    form = query_value(query, "format", "csv", expected)
    if form not in _MEDIA:
        raise InputError("format", form, expected)
    return form
