"""Call a route and log the read. An answer that reveals an arm is logged before it is sent.

Both HTTP requests and pages go through `call`, so that a page can show nothing that the API would refuse.

The table of routes defines what each route reveals. Sites and coordinators see no arm of a blinded trial unless a
site unblinds a kit. Their other reads are therefore not logged.
"""

from datetime import datetime
from typing import Any, Final

from adhere.errors import ConflictError, OutcomeUnknownError, StoreError
from adhere.service.api.exports import FileStream
from adhere.service.api.queries import check_query, query_number
from adhere.service.api.route import BLIND_ROLES, Route
from adhere.service.context import RequestContext, reading
from adhere.service.group_commit import Read
from adhere.store import ReadTransaction
from adhere.store.access import MAX_ID, accesses, accesses_before
from adhere.trial.writing.processor import utc_now
from adhere_client.responses.log import Access, AccessPage

TRIAL, RECOMMENDATION, UNBLINDING, REPORT = "trial", "recommendation", "unblinding", "report"
RESULTS, LOOKS, EXPORT, MONITOR, ANALYSIS = "results", "looks", "export", "monitor", "analysis"
RECORDS, DERIVATION = "records", "derivation"
# The kinds of read that are logged for an unblinded trial.
_OF_UNBLINDED: Final = frozenset({RECOMMENDATION, RESULTS, LOOKS, EXPORT, MONITOR, ANALYSIS, RECORDS, DERIVATION})
_COUNTED: Final = frozenset({TRIAL, RESULTS, LOOKS, MONITOR, RECORDS})  # one row per token and ten minutes
_WINDOW_MINUTES: Final = 10
_PAGE: Final = 1000
_NEWEST: Final = 100


async def call(route: Route, context: RequestContext) -> Any:
    """Return the answer to a request from a holder who may use the route."""
    if context.query:
        check_query(context.query, [name for name, _ in route.query])
    if route.reveals and (context.holder.role not in BLIND_ROLES or route.reveals == UNBLINDING):
        return await _logged(route, context)
    return await route.handler(context)


async def _logged(route: Route, context: RequestContext) -> Any:
    """Answer a request with a token that may see arms, after the read is stored durably in the access log."""
    kind = route.reveals
    try:
        response = await route.handler(context)
    except ConflictError:
        if kind == REPORT:  # a refusal reveals what was taken, like a success after a correct guess
            await _log(context, kind, context.recommendation_id)
        raise
    try:
        await _log(context, kind, getattr(response, "recommendation_id", None))
    except BaseException:
        if isinstance(response, FileStream):
            response.discard()
        raise
    return response


async def _log(context: RequestContext, kind: str, recommendation_id: str | None) -> None:
    service, token = context.service, context.holder.id
    live = await service.trial(context.trial)
    if not live.design.blinded and kind not in _OF_UNBLINDED:
        return
    try:
        await service.access_log.write(Read(live.number, _time(utc_now(), kind), token, kind, recommendation_id))
    except StoreError as error:
        if context.body is not None:  # the request, or its refusal, is already recorded
            raise OutcomeUnknownError(str(error)) from None
        raise


def _time(now: datetime, kind: str) -> str:
    """Return the time of a read or, if reads are counted together, the start of the ten minutes around it.

    >>> _time(datetime(2026, 3, 1, 9, 37, 12, 5), "results"), _time(datetime(2026, 3, 1, 9, 37, 12, 5), "export")
    ('2026-03-01T09:30:00.000000', '2026-03-01T09:37:12.000005')
    """
    if kind in _COUNTED:
        now = now.replace(minute=now.minute - now.minute % _WINDOW_MINUTES, second=0, microsecond=0)
    return now.isoformat(timespec="microseconds")


@reading
def list_accesses(context: RequestContext, view: ReadTransaction) -> AccessPage:
    """List who read which data of a trial: up to 1000 rows; more follow with after set to next.

    With the parameter before, the 100 rows before this number are listed, newest first (0: from the end), and next is
    the value of before for the following rows.
    """
    number, before = context.service.processor.trial(context.trial).number, query_number(context.query, "before", -1)
    if before < 0:
        rows = accesses(view, number, query_number(context.query, "after"), _PAGE)
    else:
        rows = accesses_before(view, number, before or MAX_ID, _NEWEST)
    lines = [
        Access(row.id, row.at, row.token, row.label, row.kind, row.head.hex(), row.n, row.recommendation_id)
        for row in rows
    ]
    return AccessPage(lines, rows[-1].id if len(rows) == (_PAGE if before < 0 else _NEWEST) else None)
