"""Handlers of what happens to one subject: recommendation, report, correction, withdrawal, and a look at it."""

from __future__ import annotations

from adhere.errors import UnknownError
from adhere.service.answers import Derivation, HistoryLine, RecommendationView
from adhere.service.calls import Call
from adhere.store import Reading
from adhere.trial.case import TOOK_NOTHING, TOOK_OTHER, Case, Part
from adhere.trial.design import Design
from adhere.trial.events import AnyEvent, Recommended, case_of, decode
from adhere.trial.kits import kit_code
from adhere.trial.requests import Answer, Correct, Recommend, Report, Withdraw
from adhere.trial.sitting import LiveTrial

_WORDS = {TOOK_NOTHING: "nothing", TOOK_OTHER: "other"}


async def recommend(call: Call) -> Answer:
    """An arm, or a kit, for a subject."""
    holder = call.holder
    return await call.ask(
        Recommend(trial=call.trial, request=call.request, by=holder.by, site=holder.site, subject=call.body.subject)
    )


async def report(call: Call) -> Answer:
    """What was taken, what came of it, or both."""
    holder, body = call.holder, call.body
    return await call.ask(
        Report(
            trial=call.trial,
            request=call.request,
            by=holder.by,
            site=holder.site,
            recommendation=call.id,
            actual=body.actual,
            took_nothing=body.took_nothing,
            took_other=body.took_other,
            reward=body.reward,
            happened=body.happened,
        )
    )


async def correct(call: Call) -> Answer:
    """Other values for what was reported."""
    holder, body = call.holder, call.body
    return await call.ask(
        Correct(
            trial=call.trial,
            request=call.request,
            by=holder.by,
            site=holder.site,
            recommendation=call.id,
            reason=body.reason,
            actual=body.actual,
            took_nothing=body.took_nothing,
            took_other=body.took_other,
            reward=body.reward,
            retract=body.retract,
        )
    )


async def withdraw(call: Call) -> Answer:
    """Nothing more will be heard."""
    holder = call.holder
    return await call.ask(
        Withdraw(
            trial=call.trial,
            request=call.request,
            by=holder.by,
            site=holder.site,
            recommendation=call.id,
            reason=call.body.reason,
        )
    )


async def show_recommendation(call: Call) -> RecommendationView:
    """A recommendation: to a site what it knows itself, to others everything."""

    def look(view: Reading) -> RecommendationView:
        live = call.service.desk.trial(call.trial)
        return _view(view, live, call.id, call.holder.site)

    return await call.service.read(look)


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
    """What was taken: of which kind, and which arm unless that is hidden."""
    if part is None:
        return None, None
    taken = int(part.value)
    if taken in _WORDS:
        return _WORDS[taken], None
    # Not even the kit is told: whether another kit held the same arm is what blinding hides.
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
