"""Handlers of trials: create, list, show, pause, resume, close, unblind, erase, results."""

from __future__ import annotations

import asyncio

import msgspec

from adhere.errors import UnknownError
from adhere.service.background import precompile
from adhere.service.context import RequestContext
from adhere.service.requests import NewTrial
from adhere.service.responses import TrialCreated, TrialLine, TrialList, TrialView
from adhere.store import ReadTransaction
from adhere.trial.commands import ChangeStatus, Erase, Receipt, Response, Unblind
from adhere.trial.design import Design, make_design
from adhere.trial.projection import read_state
from adhere.trial.results import Results
from adhere.trial.snapshot import decode_snapshot


async def create_trial(context: RequestContext) -> TrialCreated:
    """Create a trial, and compile its policy now, in a thread, rather than at its first patient."""
    body: NewTrial = context.body
    service, by = context.service, context.holder.by

    def prepared() -> Design:
        design = make_design(**{name: getattr(body, name) for name in body.__struct_fields__})
        precompile(design)
        return design

    design = await service.in_thread(prepared)

    def created() -> tuple[Receipt, Design]:
        # Without a seed in the request any seed will do, so the same request again finds the trial it made.
        chosen = design if body.seed is not None else _with_seed_of(context, design)
        return service.processor.create(chosen, by=by), chosen

    receipt, made = await service.group_commit.run(created)
    return TrialCreated(receipt.record, made)


def _with_seed_of(context: RequestContext, design: Design) -> Design:
    try:
        return msgspec.structs.replace(design, seed=context.service.processor.trial(design.name).design.seed)
    except UnknownError:
        return design


async def list_trials(context: RequestContext) -> TrialList:
    """List the trials that a token may see."""

    def look(view: ReadTransaction) -> TrialList:
        only = context.holder.trial
        names = [name for name in view.trials() if only in (None, name)]
        return TrialList([TrialLine(name, _status(context, view, name)) for name in names])

    return await context.service.read(look)


def _status(context: RequestContext, view: ReadTransaction, trial: str) -> str:
    snapshot = decode_snapshot(view.head(view.trials()[trial]).snapshot)
    if snapshot is not None:
        return snapshot.status
    live = context.service.processor.trial(trial)
    return read_state(view, live.number, live.design).status


async def show_trial(context: RequestContext) -> TrialView:
    """Show a trial; a site sees less."""

    def look(view: ReadTransaction) -> TrialView:
        live = context.service.processor.trial(context.trial)
        design, head = live.design, view.head(live.number)
        state = read_state(view, live.number, design)
        if context.holder.role == "site":
            arms = None if design.blinded else design.arms
            return TrialView(design.name, state.status, design.blinded, design.repeats, arms)
        return TrialView(
            name=design.name,
            status=state.status,
            blinded=design.blinded,
            repeats=design.repeats,
            arms=design.arms,
            policy=design.policy,
            seed=design.seed,
            horizon=design.horizon,
            reward_values=design.reward_values,
            impute=design.impute,
            recommendations=state.n_recommendations,
            records=head.position,
            head=head.hash.hex(),
            algorithm_version=state.engine.algorithm_version,
        )

    return await context.service.read(look)


async def pause(context: RequestContext) -> Response:
    """Pause a trial."""
    return await _change_status(context, "paused")


async def resume(context: RequestContext) -> Response:
    """Resume a trial."""
    return await _change_status(context, "open")


async def close(context: RequestContext) -> Response:
    """Close a trial for good."""
    return await _change_status(context, "closed")


def _change_status(context: RequestContext, status: str) -> asyncio.Future[Response]:
    return context.execute(ChangeStatus, status=status, reason=context.body.reason)


async def unblind(context: RequestContext) -> Response:
    """Unblind a kit and record it."""
    return await context.execute(Unblind, kit=context.body.kit, reason=context.body.reason)


async def erase(context: RequestContext) -> Response:
    """Erase a subject's identity."""
    return await context.execute(Erase, site=context.body.site, subject=context.body.subject)


async def results(context: RequestContext) -> Results:
    """The results so far."""

    def look(view: ReadTransaction) -> Results:
        live = context.service.processor.trial(context.trial)
        return context.service.results.of(view, live.number, live.design)

    return await context.service.read(look)
