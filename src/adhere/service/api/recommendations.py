"""Handlers of recommendations: recommend, report, correct, withdraw, mark in error, show.

A site sees its own records about a recommendation, and the reports that an admin made for it. In a blinded trial it
sees kits instead of arms. Reasons and words of other people are left out, because they may name an arm. Imputed
values are not shown to sites.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec.structs import asdict

from adhere.design.arms import TOOK_NOTHING, TOOK_OTHER
from adhere.design.design import Design
from adhere.service.api.follow_up import check_site
from adhere.service.context import RequestContext, reading
from adhere.store import ReadTransaction, Token
from adhere.trial.domain.commands import Correct, MarkInError, Recommend, Report, Response, Withdraw
from adhere.trial.domain.events import (
    AnyEvent,
    Corrected,
    EnteredInError,
    Recommended,
    Reported,
    Unblinded,
    Withdrawn,
    decode,
)
from adhere.trial.domain.history import History, history_of
from adhere.trial.domain.log_records import events_about
from adhere.trial.verbs.context import unknown_recommendation
from adhere.trial.writing.transaction import LiveTrial
from adhere_client.responses.recommendations import Derivation, HistoryLine, RecommendationDetails, RecordedLine

_WORDS: Final = {TOOK_NOTHING: "nothing", TOOK_OTHER: "other"}
_SHOWN: Final = (Reported, Corrected, Withdrawn, EnteredInError, Unblinded)
_AS_LOGGED: Final = ("subject", "site", "memo", "learned_up_to", "estimated", "algorithm_version", "software")
_OTHERS: Final = {"admin": "an admin", "statistician": "a statistician"}


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
    """Mark a recommendation as lost to follow-up."""
    return await context.execute(Withdraw, recommendation_id=context.recommendation_id, **asdict(context.body))


async def mark_in_error(context: RequestContext) -> Response:
    """Mark a recommendation as entered in error: nobody was to be treated according to it."""
    return await context.execute(MarkInError, recommendation_id=context.recommendation_id, **asdict(context.body))


@reading
def show_recommendation(context: RequestContext, view: ReadTransaction) -> RecommendationDetails:
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
    kits = _named_kits(view, live, events)
    recorded = _recorded_lines(view, live, events, kits, site)
    took = taken = words = None
    if actual is not None:
        named = _kit_code(live, kits, actual.kit)
        took, taken = _taken_as_shown(design, int(actual.value), named, hidden=to_site and design.blinded)
        words = next((line.took_other for line in reversed(recorded) if line.took is not None), None)
    return RecommendationDetails(
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
        probabilities=dict(zip(design.arms, first.probabilities, strict=True)),
        history=[_history_line(design, event) for event in events],
        kit=kit,
        fallback=first.fallback or None,
        imputed=tuple(name for name, part in parts if part is not None and part.imputed),
        **{name: getattr(first, name) for name in _AS_LOGGED},
    )


def _history_line(design: Design, event: AnyEvent) -> HistoryLine:
    actual = getattr(event, "actual", None)
    names = ("reward", "happened", "retract", "reason")
    return HistoryLine(
        record=event.position,
        event=str(event.__struct_config__.tag),
        at=event.at,
        by=event.by,
        actual=None if actual is None else _WORDS.get(actual) or design.arms[actual],
        **{name: getattr(event, name) for name in names if hasattr(event, name)},
    )


def _recorded_lines(
    view: ReadTransaction,
    live: LiveTrial,
    events: Sequence[AnyEvent],
    kits: Mapping[int, Sequence[AnyEvent]],
    site: str | None,
) -> tuple[RecordedLine, ...]:
    """Return a line for each report, correction and unblinding, in order, as `site` may see it (None: everything).

    If the subject took a kit of another recommendation, unblindings of that kit are included.
    """
    own = events[0].recommendation_index if isinstance(events[0], Recommended) else -1
    found = [event for event in events if isinstance(event, _SHOWN)]
    found += [one for index, about in kits.items() if index != own for one in about if isinstance(one, Unblinded)]
    if not found:
        return ()
    tokens = {f"token {token.id}": token for token in view.tokens()}
    design = live.design

    def line(event: AnyEvent) -> RecordedLine | None:
        by = tokens.get(event.by)
        is_own = site is None or (by is not None and by.site == site)
        if isinstance(event, Unblinded) and not is_own:
            return None
        tells = is_own or not design.blinded  # whether the reason and the words are shown
        named = event.recommendation_index if isinstance(event, Unblinded) else getattr(event, "kit", None)
        kit, actual = _kit_code(live, kits, named), getattr(event, "actual", None)
        hidden = design.blinded and site is not None
        took, taken = (None, None) if actual is None else _taken_as_shown(design, actual, kit, hidden=hidden)
        has_words = tells and isinstance(event, Reported | Corrected) and event.text
        return RecordedLine(
            event=str(event.__struct_config__.tag),
            at=event.at,
            by=_recorder(by, event.by, is_own=is_own),
            took=took,
            actual=taken,
            took_other=view.note(live.number, event.position) if has_words else None,
            kit=kit,
            reward=getattr(event, "reward", None),
            happened=getattr(event, "happened", None),
            retract=getattr(event, "retract", ()),
            reason=getattr(event, "reason", None) if tells else None,
        )

    lines = (line(event) for event in found)
    return tuple(sorted((one for one in lines if one is not None), key=lambda one: one.at))


def _named_kits(
    view: ReadTransaction, live: LiveTrial, events: Sequence[AnyEvent]
) -> Mapping[int, Sequence[AnyEvent]]:
    """Return the events of this recommendation, and of each recommendation with a kit that these events name."""
    if not live.kits.usable:
        return {}
    named = {event.kit for event in events if isinstance(event, Reported | Corrected) and event.kit is not None}
    first = events[0]
    own = {first.recommendation_index: events} if isinstance(first, Recommended) else {}
    others = view.histories(live.number, sorted(named - own.keys()))
    return own | {index: [decode(body) for body in bodies] for index, bodies in others.items()}


def _kit_code(live: LiveTrial, kits: Mapping[int, Sequence[AnyEvent]], index: int | None) -> str | None:
    """Return the code of a kit, or None if the report named no kit."""
    made = kits[index][0] if index is not None and index in kits else None
    return live.kits.code(made.epoch, made.recommendation_index) if isinstance(made, Recommended) else None


def _taken_as_shown(design: Design, taken: int, kit: str | None, *, hidden: bool) -> tuple[str, str | None]:
    """Return the kind of treatment taken and the arm or, if arms are hidden, the code of the reported kit."""
    if taken in _WORDS:
        return _WORDS[taken], None
    return ("kit", kit) if hidden else ("arm", design.arms[taken])


def _recorder(by: Token | None, in_log: str, *, is_own: bool) -> str:
    """Name the person who made a record: by the token's label or, if the record is from another site, by the role."""
    if is_own:
        return by.label if by is not None else in_log or "the service"
    return _OTHERS.get(by.role, "another site") if by is not None else "the service"
