"""Handlers of recommendations: recommend, report, correct, withdraw, show."""

from __future__ import annotations

import asyncio

from msgspec.structs import asdict

from adhere.errors import UnknownError
from adhere.service.context import RequestContext
from adhere.service.responses import Derivation, HistoryLine, RecommendationView
from adhere.store import Reading
from adhere.trial.case import TOOK_NOTHING, TOOK_OTHER, Case, Part
from adhere.trial.design import Design
from adhere.trial.events import AnyEvent, Recommended, case_of, decode
from adhere.trial.kits import kit_code
from adhere.trial.requests import Answer, Correct, Recommend, Report, Withdraw
from adhere.trial.sitting import LiveTrial

_WORDS = {TOOK_NOTHING: "nothing", TOOK_OTHER: "other"}


async def recommend(context: RequestContext) -> Answer:
    """Recommend an arm, or a kit, for a subject."""
    return await context.execute(Recommend, site=context.holder.site, subject=context.body.subject)


async def report(context: RequestContext) -> Answer:
    """Report the arm taken, the reward, or both."""
    return await _execute(context, Report)


async def correct(context: RequestContext) -> Answer:
    """Correct or retract a report."""
    return await _execute(context, Correct)


async def withdraw(context: RequestContext) -> Answer:
    """Mark a recommendation as lost to follow-up."""
    return await _execute(context, Withdraw)


def _execute(context: RequestContext, command: type[Report | Correct | Withdraw]) -> asyncio.Future[Answer]:
    """Execute a command on a recommendation, whose other fields are those of the body."""
    fields = asdict(context.body)
    return context.execute(command, site=context.holder.site, recommendation=context.id, **fields)


async def show_recommendation(context: RequestContext) -> RecommendationView:
    """Show a recommendation; a site sees only what it knows already."""

    def look(view: Reading) -> RecommendationView:
        live = context.service.desk.trial(context.trial)
        return _view(view, live, context.id, context.holder.site)

    return await context.service.read(look)


def _view(view: Reading, live: LiveTrial, number: int, site: str | None) -> RecommendationView:
    events = [decode(body) for body in view.cases(live.number, [number]).get(number, ())]
    first = events[0] if events else None
    if not isinstance(first, Recommended) or site not in (None, first.site):
        raise UnknownError("recommendation", number, "the number of a recommendation made for this site")
    case, design = case_of(events), live.design
    to_site = site is not None
    actual, reward = (None if to_site and part and part.imputed else part for part in (case.actual, case.reward))
    took, taken = _taken(design, actual, hidden=to_site and design.blinded)
    return RecommendationView(
        recommendation=number,
        at=first.at,
        open=not case.withdrawn and (actual is None or reward is None),
        withdrawn=case.withdrawn,
        arm=None if design.blinded else design.arms[first.chosen],
        kit=kit_code(design.seed, number) if design.blinded else None,
        took=took,
        actual=taken,
        reward=reward.value if reward else None,
        derivation=None if to_site else _derivation(design, first, case, events),
    )


def _taken(design: Design, part: Part | None, *, hidden: bool) -> tuple[str | None, str | None]:
    """What was taken: its kind, and the arm unless that is hidden."""
    if part is None:
        return None, None
    taken = int(part.value)
    if taken in _WORDS:
        return _WORDS[taken], None
    # Not even the kit is shown: whether another kit held the same arm is what blinding hides.
    return ("kit", None) if hidden else ("arm", design.arms[taken])


def _derivation(design: Design, first: Recommended, case: Case, events: list[AnyEvent]) -> Derivation:
    parts = (("actual", case.actual), ("reward", case.reward))
    return Derivation(
        arm=design.arms[first.chosen],
        subject=first.subject,
        site=first.site,
        probabilities=dict(zip(design.arms, first.probabilities, strict=True)),
        memo=first.memo,
        seen=first.seen,
        estimated=first.estimated,
        key=first.key,
        law=first.law,
        software=first.software,
        history=[_line(design, event) for event in events],
        kit=kit_code(design.seed, first.decision) if design.blinded else None,
        fallback=first.fallback or None,
        imputed=tuple(name for name, part in parts if part is not None and part.imputed),
    )


def _line(design: Design, event: AnyEvent) -> HistoryLine:
    actual = getattr(event, "actual", None)
    return HistoryLine(
        record=event.position,
        event=str(event.__struct_config__.tag),
        at=event.at,
        by=event.by,
        actual=None if actual is None else _WORDS.get(actual) or design.arms[actual],
        reward=getattr(event, "reward", None),
        happened=getattr(event, "happened", None),
        retract=getattr(event, "retract", ()),
        reason=getattr(event, "reason", None),
    )
