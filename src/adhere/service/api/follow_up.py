"""Handlers of enrolment and follow-up: enrolment, recommendations awaiting a report, a subject's list, and sites.

A trial has sites once a token with the role site is for this trial only, or a subject was entered for a site. From
then on, every subject must be entered for a site. Tokens for all trials do not count, because an application may
run another trial without sites, with an admin's token. The page asks for a site as soon as a site may use the trial.
"""

from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC
from functools import partial, wraps
from typing import Final, TypeVar

from adhere.checks import check_text
from adhere.errors import InputError, nearest
from adhere.service.api.queries import query_value
from adhere.service.api.route import ADMIN, SITE
from adhere.service.context import RequestContext, reading
from adhere.store import ReadTransaction
from adhere.store.subjects import looking_alike, pseudonyms_of, sites_of, subject_of
from adhere.trial.domain.log_records import index_of, made_events
from adhere.trial.log.follow_up import (
    IN_ERROR,
    LOST,
    OUTCOME,
    TAKEN,
    FollowUp,
    SiteCounts,
    is_complete,
    is_pending,
    missing,
)
from adhere.trial.verbs.context import unknown_recommendation
from adhere.trial.writing.snapshot import summary_of
from adhere.trial.writing.transaction import LiveTrial
from adhere_client.responses.recommendations import ListedRecommendation, RecommendationList, WaitingPage
from adhere_client.responses.trials import DayEnrolment, SiteEnrolment, SiteList, TrialEnrolment

Result = TypeVar("Result")
_PAGE: Final = 100
_ALL_SITES: Final = "/"  # not a valid name of a site


def _following(
    handler: Callable[[RequestContext, ReadTransaction, LiveTrial, FollowUp], Result],
) -> Callable[[RequestContext], Awaitable[Result]]:
    """Make a handler from a function of the request, a view of the store, the trial and its follow-up."""

    @wraps(handler)
    async def handle(context: RequestContext) -> Result:
        service = context.service
        live, head = await service.trial(context.trial), await service.head(context.trial)

        def answer(view: ReadTransaction) -> Result:
            return service.follow_ups.use(view, live.number, partial(handler, context, view, live))

        await service.follow_ups.prepare(context.trial, live.number, head.position)
        return await service.read(answer)

    return handle


@_following
def enrolment(context: RequestContext, view: ReadTransaction, live: LiveTrial, follow_up: FollowUp) -> TrialEnrolment:
    """Show the enrolment of all sites by day, and the number of missing reports."""
    oldest: dict[str, int] = {}
    for number in follow_up.pending():
        oldest.setdefault(follow_up.site(number), number)
    named = sorted(zip(follow_up.sites, follow_up.counts, strict=True), key=lambda one: one[0])
    zones = context.service.follow_ups.zones
    sites = [_site(follow_up, name, counts, oldest.get(name), zones.name(name)) for name, counts in named]
    days = [DayEnrolment(day, name, n) for name, counts in named for day, n in counts.days.items()]
    return TrialEnrolment(
        trial=context.trial,
        status=summary_of(view, live.number).status,
        recommendations=follow_up.n_recommendations,
        complete=sum(site.complete for site in sites),
        waiting=sum(site.waiting for site in sites),
        lost_to_follow_up=sum(site.lost_to_follow_up for site in sites),
        entered_in_error=sum(site.entered_in_error for site in sites),
        sites=sites,
        days=sorted(days, key=lambda day: (day.day, day.site)),
        n_patients=live.design.n_patients,
        rehearsal=live.design.rehearsal,
    )


def _site(follow_up: FollowUp, name: str, counts: SiteCounts, oldest: int | None, time_zone: str) -> SiteEnrolment:
    known = counts.known
    return SiteEnrolment(
        site=name,
        recommendations=sum(known.values()),
        complete=sum(n for what, n in known.items() if is_complete(what)),
        waiting=sum(n for what, n in known.items() if is_pending(what)),
        nothing_reported=known[0],
        only_taken_reported=known[TAKEN],
        only_outcome_reported=known[OUTCOME],
        lost_to_follow_up=sum(n for what, n in known.items() if what & LOST),
        entered_in_error=known[IN_ERROR],
        last_activity=counts.last_activity,
        oldest_waiting=None if oldest is None else follow_up.at(oldest),
        time_zone=time_zone,
    )


@_following
def list_waiting(context: RequestContext, view: ReadTransaction, live: LiveTrial, follow_up: FollowUp) -> WaitingPage:
    """List up to 100 recommendations that await a report, oldest first; more follow with after set to next."""
    own = context.holder.site if context.holder.role == SITE else None
    after = query_value(context.query, "after", "", "the ID of a recommendation")
    index = _index(view, live.number, after) if after else -1
    everything = follow_up.pending(own)
    rest = [number for number in everything if number > index]
    shown = rest[:_PAGE]
    lines = _lines(context, view, live, follow_up, shown)
    return WaitingPage(lines, len(everything), lines[-1].recommendation_id if len(rest) > len(shown) else None)


@_following
def find_recommendations(
    context: RequestContext, view: ReadTransaction, live: LiveTrial, follow_up: FollowUp
) -> RecommendationList:
    """List the recommendations of a subject, found by pseudonym or by an ID; admins may search one site or all."""
    shown = partial(_lines, context, view, live, follow_up)
    if wanted := query_value(context.query, "recommendation_id", "", "the ID of a recommendation"):
        index = _index(view, live.number, wanted)
        made = made_events(view, live.number, [index]).get(index)
        if made is None or context.holder.site not in (None, made.site):
            raise unknown_recommendation(wanted)
        return RecommendationList(shown(_of_key(view, live.number, follow_up, made.subject)))
    subject = check_text("subject", query_value(context.query, "subject", "", "the pseudonym of a subject"))
    sites = _sites_asked(context, view, live.number)
    known = [one for site in sites if (one := subject_of(view, live.number, f"{site}/{subject}")) is not None]
    if known:
        found = [number for one in known for number in _of_key(view, live.number, follow_up, one.key)]
        return RecommendationList(shown(sorted(found)))
    alike = [one for site in sites for one in looking_alike(view, live.number, site, subject)]
    return RecommendationList([], tuple(shown([one.latest for one in alike if one.latest is not None])))


def _index(view: ReadTransaction, trial: int, recommendation_id: str) -> int:
    index = index_of(view, trial, recommendation_id)
    if index is None:
        raise unknown_recommendation(recommendation_id)
    return index


def _sites_asked(context: RequestContext, view: ReadTransaction, trial: int) -> list[str]:
    """Return the token's site or, for an admin, the requested site (empty: no site) or all sites."""
    site = query_value(context.query, "site", _ALL_SITES, "the name of a site")
    if context.holder.role == SITE:
        if site not in (_ALL_SITES, "", context.holder.site):
            raise InputError("site", site, "none, or the site of the token")
        return [context.holder.site or ""]
    return sites_of(view, trial) if site == _ALL_SITES else [site]


def _of_key(view: ReadTransaction, trial: int, follow_up: FollowUp, key: str) -> list[int]:
    """Return the indices of the recommendations of the subject with a key, in order."""
    made = made_events(view, trial, list(follow_up.of_subject(key)))
    return sorted(number for number, event in made.items() if event.subject == key)


def _lines(
    context: RequestContext, view: ReadTransaction, live: LiveTrial, follow_up: FollowUp, numbers: Sequence[int]
) -> list[ListedRecommendation]:
    """Return recommendations as a role may see them. Only the site and admins see the subject and the arm or kit."""
    acts = context.holder.role in (SITE, ADMIN)
    made = made_events(view, live.number, numbers)
    keys = [one.subject for one in made.values()] if acts else []
    names = pseudonyms_of(view, live.number, keys, context.holder.site)
    design = live.design

    def line(number: int) -> ListedRecommendation:
        known, event = follow_up.known(number), made[number]
        return ListedRecommendation(
            recommendation_id=event.recommendation_id,
            site=event.site,
            at=event.at.astimezone(UTC),
            state=_state(known),
            missing=missing(known),
            stratum=None if event.stratum is None else design.strata[event.stratum],
            subject=names.get(event.subject),
            arm=design.arms[event.chosen] if acts and not design.blinded else None,
            kit=live.kits.code(event.epoch, number) if acts and live.kits.usable else None,
        )

    return [line(number) for number in numbers]


def _state(known: int) -> str:
    if known & IN_ERROR:
        return "entered in error"
    if known & LOST:
        return "lost to follow-up"
    return "waiting" if is_pending(known) else "complete"


@reading
def list_sites(context: RequestContext, view: ReadTransaction) -> SiteList:
    """List the sites that may use a trial or entered subjects, and whether every subject needs a site."""
    service, trial = context.service, context.trial
    entered = {site for site in sites_of(view, service.processor.trial(trial).number) if site}
    own, shared = service.tokens.sites(trial), service.tokens.sites(None)
    return SiteList(sorted(entered | own | shared), required=bool(entered | own))


async def check_site(context: RequestContext, site: str) -> None:
    """Refuse to enter a subject for a site that is not a site of the trial, or not the token's own site."""
    if context.holder.role == SITE:
        raise InputError("site", site, "none, or the site of the token")
    known = (await list_sites(context)).sites
    if site not in known:
        none = "no site: this trial has none; make a token of role site first"
        raise InputError("site", site, nearest(site, known) if known else none)
