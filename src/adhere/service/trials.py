"""Handlers of trials: create, list, show, pause, resume, close, unblind, erase, results."""

from __future__ import annotations

import asyncio

import msgspec

from adhere.errors import UnknownError
from adhere.service.background import precompile
from adhere.service.context import RequestContext
from adhere.service.requests import NewTrial
from adhere.service.responses import TrialCreated, TrialLine, TrialList, TrialView
from adhere.store import Reading
from adhere.trial.design import Design, make_design
from adhere.trial.fold import Standing, decode_standing, standing_of
from adhere.trial.requests import Answer, ChangeStatus, Erase, Receipt, Unblind
from adhere.trial.results import Results


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
        return service.desk.create(chosen, by=by), chosen

    receipt, made = await service.group_commit.run(created)
    return TrialCreated(receipt.record, made)


def _with_seed_of(context: RequestContext, design: Design) -> Design:
    try:
        return msgspec.structs.replace(design, seed=context.service.desk.trial(design.name).design.seed)
    except UnknownError:
        return design


async def list_trials(context: RequestContext) -> TrialList:
    """List the trials that a token may see."""

    def look(view: Reading) -> TrialList:
        only = context.holder.trial
        names = [name for name in view.trials() if only in (None, name)]
        return TrialList([TrialLine(name, _standing(context, view, name).status) for name in names])

    return await context.service.read(look)


def _standing(context: RequestContext, view: Reading, trial: str) -> Standing:
    head = view.head(view.trials()[trial])
    kept = decode_standing(head.snapshot)
    if kept is not None:
        return kept
    live = context.service.desk.trial(trial)
    return standing_of(
        view, live.number, live.design.engine(), head.position
    )  # the live engine belongs to the group commit


async def show_trial(context: RequestContext) -> TrialView:
    """Show a trial; a site sees less."""

    def look(view: Reading) -> TrialView:
        live = context.service.desk.trial(context.trial)
        design, head = live.design, view.head(live.number)
        standing = _standing(context, view, context.trial)
        if context.holder.role == "site":
            arms = None if design.blinded else design.arms
            return TrialView(design.name, standing.status, design.blinded, design.repeats, arms)
        return TrialView(
            name=design.name,
            status=standing.status,
            blinded=design.blinded,
            repeats=design.repeats,
            arms=design.arms,
            policy=design.policy,
            seed=design.seed,
            horizon=design.horizon,
            reward_values=design.reward_values,
            impute=design.impute,
            recommendations=standing.decisions,
            records=head.position,
            head=head.hash.hex(),
            law=standing.law,
        )

    return await context.service.read(look)


async def pause(context: RequestContext) -> Answer:
    """Pause a trial."""
    return await _change_status(context, "paused")


async def resume(context: RequestContext) -> Answer:
    """Resume a trial."""
    return await _change_status(context, "open")


async def close(context: RequestContext) -> Answer:
    """Close a trial for good."""
    return await _change_status(context, "closed")


def _change_status(context: RequestContext, status: str) -> asyncio.Future[Answer]:
    return context.execute(ChangeStatus, status=status, reason=context.body.reason)


async def unblind(context: RequestContext) -> Answer:
    """Unblind a kit and record it."""
    return await context.execute(Unblind, kit=context.body.kit, reason=context.body.reason)


async def erase(context: RequestContext) -> Answer:
    """Erase a subject's identity."""
    return await context.execute(Erase, site=context.body.site, subject=context.body.subject)


async def results(context: RequestContext) -> Results:
    """The results so far."""

    def look(view: Reading) -> Results:
        live = context.service.desk.trial(context.trial)
        return context.service.results.of(view, live.number, live.design)

    return await context.service.read(look)
