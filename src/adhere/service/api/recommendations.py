"""Handlers of recommendations: recommend, report, correct, withdraw, mark in error, show."""

from __future__ import annotations

from msgspec.structs import asdict

from adhere.design.design import Design
from adhere.service.api.recorded import WORDS, kit_code, named_kits, recorded_lines, taken_as_shown
from adhere.service.api.responses import Derivation, HistoryLine, RecommendationView
from adhere.service.api.sites import check_site
from adhere.service.context import RequestContext, reading
from adhere.store import ReadTransaction
from adhere.trial.domain.commands import Correct, MarkInError, Recommend, Report, Response, Withdraw
from adhere.trial.domain.events import AnyEvent, Recommended
from adhere.trial.domain.history import History, history_of
from adhere.trial.domain.recommendations import events_about
from adhere.trial.verbs.context import unknown_recommendation


async def recommend(context: RequestContext) -> Response:
    """Recommend an arm, or in a blinded trial a kit, for a subject."""
    body = context.body
    site = context.holder.site
    said = {"subject": body.subject, "stratum": body.stratum, "again": body.again or None}
    if body.refuse_alike:
        said["refuse_alike"] = True
    if body.site is not None and body.site != site:
        await check_site(context, site := body.site)
    if site is None:
        said["sites"] = tuple(sorted(context.service.tokens.sites(context.trial)))
    return await context.execute(Recommend, **said, site=site)


async def report(context: RequestContext) -> Response:
    """Report the arm taken, the reward, or both."""
    return await context.execute(Report, recommendation_id=context.recommendation_id, **asdict(context.body))


async def correct(context: RequestContext) -> Response:
    """Correct or retract a report."""
    return await context.execute(Correct, recommendation_id=context.recommendation_id, **asdict(context.body))


async def withdraw(context: RequestContext) -> Response:
    """Mark as lost to follow-up."""
    return await context.execute(Withdraw, recommendation_id=context.recommendation_id, **asdict(context.body))


async def mark_in_error(context: RequestContext) -> Response:
    """Mark as entered in error: a slip, by which nobody was to be treated."""
    return await context.execute(MarkInError, recommendation_id=context.recommendation_id, **asdict(context.body))


@reading
def show_recommendation(context: RequestContext, view: ReadTransaction) -> RecommendationView:
    """Show a recommendation; a site sees its own, without probabilities."""
    live = context.service.processor.trial(context.trial)
    site = context.holder.site
    events = events_about(view, live.number, context.recommendation_id)
    first = events[0] if events else None
    if not isinstance(first, Recommended) or site not in (None, first.site):
        raise unknown_recommendation(context.recommendation_id)
    history, design = history_of(events), live.design
    to_site = site is not None
    actual, reward = (
        None if to_site and part and part.imputed else part for part in (history.actual, history.reward)
    )
    kit = live.kits.code(first.epoch, first.recommendation_index) if live.kits.usable else None
    recorded = recorded_lines(view, live, events, site)
    took = taken = words = None
    if actual is not None:
        named = kit_code(live, named_kits(view, live, events), actual.kit)
        took, taken = taken_as_shown(design, int(actual.value), named, hidden=to_site and design.blinded)
        words = next((line.took_other for line in reversed(recorded) if line.took is not None), None)
    return RecommendationView(
        recommendation_id=first.recommendation_id,
        at=first.at,
        open=not history.withdrawn and not history.in_error and (actual is None or reward is None),
        withdrawn=history.withdrawn,
        in_error=history.in_error,
        arm=None if design.blinded else design.arms[first.chosen],
        kit=kit,
        took=took,
        actual=taken,
        took_other=words if took == "other" else None,
        recorded=recorded,
        reward=reward.value if reward else None,
        stratum=None if first.stratum is None else design.strata[first.stratum],
        derivation=None if to_site else _derivation(design, first, history, events, kit),
    )


def _derivation(
    design: Design, first: Recommended, history: History, events: list[AnyEvent], kit: str | None
) -> Derivation:
    parts = (("actual", history.actual), ("reward", history.reward))
    return Derivation(
        arm=design.arms[first.chosen],
        subject=first.subject,
        site=first.site,
        probabilities=dict(zip(design.arms, first.probabilities, strict=True)),
        memo=first.memo,
        learned_up_to=first.learned_up_to,
        estimated=first.estimated,
        algorithm_version=first.algorithm_version,
        software=first.software,
        history=[_line(design, event) for event in events],
        kit=kit,
        fallback=first.fallback or None,
        imputed=tuple(name for name, part in parts if part is not None and part.imputed),
    )


def _line(design: Design, event: AnyEvent) -> HistoryLine:
    actual = getattr(event, "actual", None)
    names = ("reward", "happened", "retract", "reason")
    return HistoryLine(
        record=event.position,
        event=str(event.__struct_config__.tag),
        at=event.at,
        by=event.by,
        actual=None if actual is None else WORDS.get(actual) or design.arms[actual],
        **{name: getattr(event, name) for name in names if hasattr(event, name)},
    )
