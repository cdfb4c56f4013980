"""Handler of exports."""

from __future__ import annotations

import tempfile
from pathlib import Path
from urllib.parse import parse_qsl

from starlette.background import BackgroundTask
from starlette.responses import FileResponse

from adhere.errors import InputError
from adhere.service.context import RequestContext
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
    try:
        given = [value for name, value in parse_qsl(query.decode(), keep_blank_values=True) if name == "format"]
    except ValueError:
        given = [repr(query)]
    form = given[-1] if given else "csv"
    if len(given) > 1 or form not in _MEDIA:
        raise InputError("format", form, f"one of {', '.join(_MEDIA)}, once")
    return form
