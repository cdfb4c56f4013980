"""Handlers of the audit: the log, page by page and in words; a recommendation derived again; the chain verified."""

from collections.abc import Mapping, Sequence
from typing import Final

from adhere.design.design import Design
from adhere.service.api.queries import query_number
from adhere.service.context import RequestContext, reading
from adhere.store import ReadTransaction, Record
from adhere.trial.domain.events import Recommended, decode
from adhere.trial.domain.log_records import made_and_all
from adhere.trial.log.derive import Reproduction as DerivedRecommendation
from adhere.trial.log.explain import describe
from adhere.trial.log.verify import VerificationResult
from adhere.trial.writing.processor import utc_now
from adhere_client.responses.log import DerivationReason, LogLine, LogPage, Reproduction, Verification

_PAGE: Final = 100
_TOKEN: Final = "token "


@reading
def list_records(context: RequestContext, view: ReadTransaction) -> LogPage:
    """List a trial's log in words, 100 records at a time: the last ones, those before a record or those after it."""
    live = context.service.processor.trial(context.trial)
    total = view.head(live.number).position
    before, after = (query_number(context.query, name, -1) for name in ("before", "after"))
    if after < 0:
        end = total if before < 0 else min(max(before - 1, 0), total)
        after = max(0, end - _PAGE)
    else:
        end = min(after + _PAGE, total)
    found = view.records(live.number, after, end - after) if end > after else []
    who, ids = _labels(view), _ids(view, live.number, found)
    lines = [_line(view, live.number, live.design, record, who, ids) for record in found]
    return LogPage(
        lines,
        total,
        before=after + 1 if after > 0 else None,
        after=end if end < total else None,
        rehearsal=live.design.rehearsal,
    )


def _labels(view: ReadTransaction) -> dict[str, str]:
    """The label of each token, by its name in the log."""
    return {f"{_TOKEN}{token.id}": token.label for token in view.tokens()}


def _ids(view: ReadTransaction, trial: int, records: Sequence[Record]) -> dict[int, str]:
    """The ID of each recommendation that records are about, by its index."""
    indices = sorted({one.recommendation_index for one in records if one.recommendation_index is not None})
    made = (decode(bodies[0]) for bodies in view.histories(trial, indices).values())
    return {one.recommendation_index: one.recommendation_id for one in made if isinstance(one, Recommended)}


def _line(
    view: ReadTransaction,
    trial: int,
    design: Design,
    record: Record,
    who: Mapping[str, str],
    ids: Mapping[int, str],
) -> LogLine:
    event = decode(record.body)
    words = view.note(trial, event.position) if getattr(event, "text", "") else None
    return LogLine(
        record=record.position,
        at=event.at,
        by=who.get(event.by, event.by),
        event=str(event.__struct_config__.tag),
        says=describe(design, event, words),
        hash=record.hash.hex(),
        recommendation_id=None if record.recommendation_index is None else ids[record.recommendation_index],
    )


async def derive_again(context: RequestContext) -> Reproduction:
    """Derive a recommendation again from the log as it stood then, and say why it came out so."""
    service = context.service

    def look(view: ReadTransaction) -> tuple[Recommended, list[LogLine], int, Design]:
        live = service.processor.trial(context.trial)
        made, about = made_and_all(view, live.number, context.recommendation_id)
        records = [view.records(live.number, event.position - 1, 1)[0] for event in about]
        who, ids = _labels(view), {made.recommendation_index: made.recommendation_id}
        lines = [_line(view, live.number, live.design, record, who, ids) for record in records]
        return made, lines, view.head(live.number).position, live.design

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
    """Verify a trial's log: whether its chain of hashes is whole."""
    service = context.service

    def count(view: ReadTransaction) -> int:
        return view.head(service.processor.trial(context.trial).number).position

    n_records = await service.read(count)
    verdict: VerificationResult
    verdict = await service.jobs.run(context.holder.id, "verify", context.trial, n_records=n_records)
    return Verification(
        whole=verdict.fault is None,
        records=verdict.n_records,
        head=verdict.head,
        verified_at=utc_now(),
        looks=verdict.n_looks,
        secret=verdict.secret,
        fault=None if verdict.fault is None else str(verdict.fault),
    )
