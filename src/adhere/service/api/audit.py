"""Handlers of the audit: read the log in words, derive a recommendation again, and verify the chain of hashes."""

from collections.abc import Sequence
from typing import Final

from adhere.design.design import Design
from adhere.service.api.queries import query_number
from adhere.service.context import RequestContext, reading
from adhere.store import ReadTransaction, Record
from adhere.trial.domain.events import Recommended, decode
from adhere.trial.domain.log_records import made_and_all, made_events
from adhere.trial.log.derive import Reproduction as DerivedRecommendation
from adhere.trial.log.explain import describe
from adhere.trial.log.verify import VerificationResult
from adhere.trial.writing.processor import utc_now
from adhere.trial.writing.transaction import LiveTrial
from adhere_client.responses.log import DerivationReason, LogLine, LogPage, Reproduction, Verification

_PAGE: Final = 100
_TOKEN: Final = "token "


@reading
def list_records(context: RequestContext, view: ReadTransaction) -> LogPage:
    """List a trial's log in words, 100 records at a time: the last records, or the records before or after one."""
    live = context.service.processor.trial(context.trial)
    total = view.head(live.number).position
    before, after = (query_number(context.query, name, -1) for name in ("before", "after"))
    if after < 0:
        end = total if before < 0 else min(max(before - 1, 0), total)
        after = max(0, end - _PAGE)
    else:
        end = min(after + _PAGE, total)
    found = view.records(live.number, after, end - after) if end > after else []
    return LogPage(
        _lines(view, live, found),
        total,
        before=after + 1 if after > 0 else None,
        after=end if end < total else None,
        rehearsal=live.design.rehearsal,
    )


def _lines(view: ReadTransaction, live: LiveTrial, records: Sequence[Record]) -> list[LogLine]:
    """Describe records in words, with the labels of tokens and the IDs of recommendations."""
    labels = {f"{_TOKEN}{token.id}": token.label for token in view.tokens()}
    indices = {one.recommendation_index for one in records if one.recommendation_index is not None}
    made = made_events(view, live.number, sorted(indices))

    def line(record: Record) -> LogLine:
        event, index = decode(record.body), record.recommendation_index
        words = view.note(live.number, event.position) if getattr(event, "text", "") else None
        return LogLine(
            record=record.position,
            at=event.at,
            by=labels.get(event.by, event.by),
            event=str(event.__struct_config__.tag),
            says=describe(live.design, event, words),
            hash=record.hash.hex(),
            recommendation_id=None if index is None else made[index].recommendation_id,
        )

    return [line(record) for record in records]


async def derive_again(context: RequestContext) -> Reproduction:
    """Derive a recommendation again from the log at that time, and explain how it came about."""
    service = context.service

    def look(view: ReadTransaction) -> tuple[Recommended, list[LogLine], int, Design]:
        live = service.processor.trial(context.trial)
        made, about = made_and_all(view, live.number, context.recommendation_id)
        records = [view.records(live.number, event.position - 1, 1)[0] for event in about]
        return made, _lines(view, live, records), view.head(live.number).position, live.design

    made, history, n_records, design = await service.read(look)
    found: DerivedRecommendation
    found, reasons = await service.jobs.run(
        context.holder.id, "derivation", context.trial, made.recommendation_id, n_records=n_records
    )
    came_out = found.comparison
    return Reproduction(
        recommendation_id=made.recommendation_id,
        same=came_out.difference is None,
        derived=came_out.how.value,
        logged_arm=design.arms[made.chosen],
        logged_probabilities=dict(zip(design.arms, made.probabilities, strict=False)),
        records=found.n_records,
        updates=found.n_updates,
        reasons=[
            DerivationReason(what, says.replace(made.by, history[0].by, what == "asked by")) for what, says in reasons
        ],
        history=history,
        difference=came_out.difference,
        arm=None if came_out.arm is None else design.arms[came_out.arm],
        probabilities=dict(zip(design.arms, came_out.probabilities, strict=False)) or None,
    )


async def verify_log(context: RequestContext) -> Verification:
    """Verify that the chain of hashes of a trial's log is intact."""
    head = await context.service.head(context.trial)
    verdict: VerificationResult
    verdict = await context.service.jobs.run(context.holder.id, "verify", context.trial, n_records=head.position)
    return Verification(
        whole=verdict.fault is None,
        records=verdict.n_records,
        head=verdict.head,
        verified_at=utc_now(),
        looks=verdict.n_looks,
        secret=verdict.secret,
        fault=None if verdict.fault is None else str(verdict.fault),
    )
