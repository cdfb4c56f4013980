"""Handlers of trials: create, list, show, pause, resume, close, unblind, erase, results, looks, monitor."""

from functools import partial

from msgspec import convert
from msgspec.structs import asdict, replace

from adhere.design.checks import check
from adhere.design.design import Design
from adhere.errors import ConflictError
from adhere.looks.judge import GO_ON
from adhere.service.api.designs import design_response
from adhere.service.api.requests import NewTrial, seed_of
from adhere.service.api.route import BLIND_ROLES, SITE
from adhere.service.context import RequestContext, reading
from adhere.store import ReadTransaction
from adhere.trial.domain.commands import ChangeStatus, Erase, Response, Reveal, Unblind
from adhere.trial.domain.events import Looked, created_event
from adhere.trial.log.look_view import decision_of, logged_looks, look_events, stop_to_confirm
from adhere.trial.monitoring.results import Results
from adhere.trial.policy.engine import engine_of
from adhere.trial.secret.recommendation_ids import parse_id
from adhere.trial.writing.creation import check_seed_of
from adhere.trial.writing.running_state import read_state
from adhere.trial.writing.snapshot import decode_snapshot, snapshot_of, summary_of
from adhere_client.responses.monitor import Monitor
from adhere_client.responses.trials import (
    CreatedTrial,
    Look,
    LookList,
    LookSummary,
    TrialDetails,
    TrialLine,
    TrialList,
)


async def create_trial(context: RequestContext) -> CreatedTrial:
    """Create a trial; sending the same design again changes nothing."""
    body: NewTrial = context.body
    service = context.service
    seed = seed_of(body.seed)

    def prepared() -> Design:
        # The policy is compiled now, in a thread, so that a policy that does not compile is refused.
        design = body.design()
        check_seed_of(design, seed)
        engine_of(design).load()
        return design

    design = await service.in_compiler(prepared)
    context.trial = design.name

    def created() -> CreatedTrial:
        service.processor.create(design, seed=seed, by=context.by)
        return CreatedTrial(1, design_response(design), design.digest, check(design))

    return await service.group_commit.run(created)


@reading
def list_trials(context: RequestContext, view: ReadTransaction) -> TrialList:
    """List the trials with status, patients so far, awaited reports and compliance; sites see fewer fields."""
    only = context.holder.trial
    numbers = {name: number for name, number in view.trials().items() if only in (None, name)}
    return TrialList([_line(view, context.holder.role, name, number) for name, number in numbers.items()])


def _line(view: ReadTransaction, role: str, name: str, number: int) -> TrialLine:
    """Return a line of the list, with the fields that a role may see."""
    design, (status, n_recommendations, counts) = created_event(view, number).design, summary_of(view, number)
    line = TrialLine(name, status, design.rehearsal, blinded=design.blinded)
    if role == SITE:
        return line
    line = replace(line, recommendations=n_recommendations, waiting=counts.pending, entered_in_error=counts.in_error)
    if role in BLIND_ROLES:
        return line
    stop = stop_to_confirm(view, number)
    return replace(line, compliance=counts.compliance, recommended_stop=_summary(stop) if stop else None)


@reading
def show_trial(context: RequestContext, view: ReadTransaction) -> TrialDetails:
    """Show a trial; sites and coordinators see fewer fields."""
    live = context.service.processor.trial(context.trial)
    design, head = live.design, view.head(live.number)
    # The stored snapshot, of any version, or a snapshot derived from the log if none is stored.
    snapshot = decode_snapshot(head.snapshot) or snapshot_of(read_state(view, live.number, design, live.engine))
    is_blind = context.holder.role in BLIND_ROLES
    details = TrialDetails(
        name=design.name,
        status=snapshot.status,
        blinded=design.blinded,
        repeats=design.repeats,
        reward_values=design.reward_values,
        arms=None if is_blind and design.blinded else design.arms,
        strata=design.strata,
        entries=design.entries,
        rehearsal=design.rehearsal,
        outcome_words=design.outcome_words,
        lower_is_better=design.lower_is_better,
    )
    if is_blind:
        return details
    looks = look_events(view, live.number)
    stop = next((look for look in looks if look.decision != GO_ON), None)
    return replace(
        details,
        design=design_response(design),
        design_digest=design.digest,
        recommendations=snapshot.n_recommendations,
        records=head.position,
        head=head.hash.hex(),
        algorithm_version=snapshot.algorithm_version,
        commitments=tuple(filter(None, snapshot.commitments)),
        revealed=snapshot.is_revealed,
        last_look=_summary(looks[-1]) if looks else None,
        recommended_stop=_summary(stop) if stop else None,
    )


def _summary(look: Looked) -> LookSummary:
    """Return the part of a look that names no arm, which needs no row in the access log."""
    counts = look.n_outcomes, look.n_recommendations
    return LookSummary(look.look + 1, look.position, look.at, *counts, decision_of(look))


@reading
def list_looks(context: RequestContext, view: ReadTransaction) -> LookList:
    """List the looks at a trial so far: the findings on each arm, and whether to stop."""
    live = context.service.processor.trial(context.trial)
    return LookList(
        convert(logged_looks(view, live.number, live.design), list[Look], from_attributes=True),
        live.design.rehearsal,
    )


async def pause(context: RequestContext) -> Response:
    """Pause a trial: new recommendations are refused, and reports are accepted."""
    return await context.execute(ChangeStatus, status="paused", reason=context.body.reason)


async def resume(context: RequestContext) -> Response:
    """Resume a trial."""
    return await context.execute(ChangeStatus, status="open", reason=context.body.reason)


async def close(context: RequestContext) -> Response:
    """End a trial permanently: reports and corrections are refused from then on."""
    if not context.body.accept_open:
        await context.service.in_background(partial(_check_none_open, context))
    return await context.execute(ChangeStatus, status="closed", reason=context.body.reason)


def _check_none_open(context: RequestContext) -> None:
    """Refuse to end a trial that has open recommendations.

    The check is outside the transaction that ends the trial, so that no writer waits while open recommendations are
    counted.
    """
    name = context.trial
    with context.service.store.reading() as view:
        number = view.trials().get(name)
        if number is None or summary_of(view, number).status == "closed":  # the command itself reports these cases
            return
        n_open = summary_of(view, number).counts.pending
    if n_open:
        many = f"{n_open} recommendation{'s' * (n_open > 1)}"
        sentence = (
            f"trial {name!r} has {many} with no report or only a part of one, and takes none once it has ended: "
            "pause it until they are in, or end it with accept_open to do without them"
        )
        raise ConflictError("trial", name, "a trial without open recommendations, or accept_open", sentence)


async def reveal(context: RequestContext) -> Response:
    """Reveal the secret with which a closed trial drew its arms, so that anybody can redraw them from its log."""
    return await context.execute(Reveal, reason=context.body.reason)


async def unblind(context: RequestContext) -> Response:
    """Unblind a kit and record it."""
    body = asdict(context.body)
    if (given := body["recommendation_id"]) is not None:
        body["recommendation_id"] = parse_id(given) or given  # an invalid ID is looked up unchanged and not found
    return await context.execute(Unblind, **body)


async def erase(context: RequestContext) -> Response:
    """Erase a subject's identity."""
    return await context.execute(Erase, **asdict(context.body))


async def results(context: RequestContext) -> Results:
    """Show the results so far."""
    service, trial = context.service, context.trial
    head = await service.head(trial)
    found = service.results.get(trial)
    if found is None or found.head != head.hash.hex():
        found = await service.jobs.run(context.holder.id, "results", trial, n_records=head.position)
        service.results[trial] = found
    return found


async def monitor(context: RequestContext) -> Monitor:
    """Show the statistician's view of a trial: effects, compliance, allocation, beliefs and looks over time."""
    service, trial, since = context.service, context.trial, context.since
    if since is not None and (made := service.monitors.made_since(trial, since)) is not None:
        return made
    return await service.monitors.get(trial, await service.head_of(trial), since)
