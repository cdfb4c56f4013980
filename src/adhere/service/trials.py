"""Handlers of whole trials: begin, list, show, pause, resume, close, unblind, forget somebody, results."""

from __future__ import annotations

import msgspec

from adhere.errors import UnknownError
from adhere.service.answers import Made, TrialLine, TrialList, TrialView
from adhere.service.bodies import NewTrial
from adhere.service.calls import Call
from adhere.service.warming import warm
from adhere.store import Reading
from adhere.trial.design import Design, make_design
from adhere.trial.fold import Standing, decode_standing, standing_of
from adhere.trial.requests import Answer, ChangeStatus, Erase, Receipt, Unblind
from adhere.trial.results import Results


async def create_trial(call: Call) -> Made:
    """Begin a trial. What would be compiled at its first patient is compiled now, beside the requests of others."""
    body: NewTrial = call.body
    service, by = call.service, call.holder.by

    def prepared() -> Design:
        design = make_design(**{name: getattr(body, name) for name in body.__struct_fields__})
        warm(design)
        return design

    design = await service.beside(prepared)

    def created() -> tuple[Receipt, Design]:
        # Whoever gives no seed takes any; so the same request again finds the trial it made.
        wanted = design if body.seed is not None else _with_seed_of(call, design)
        return service.desk.create(wanted, by=by), wanted

    receipt, made = await service.writer.run(created)
    return Made(receipt.record, made)


def _with_seed_of(call: Call, design: Design) -> Design:
    try:
        return msgspec.structs.replace(design, seed=call.service.desk.trial(design.name).design.seed)
    except UnknownError:
        return design


async def list_trials(call: Call) -> TrialList:
    """The trials a token may see."""

    def look(view: Reading) -> TrialList:
        only = call.holder.trial
        names = [name for name in view.trials() if only in (None, name)]
        return TrialList([TrialLine(name, _standing(call, view, name).status) for name in names])

    return await call.service.read(look)


def _standing(call: Call, view: Reading, trial: str) -> Standing:
    head = view.head(view.trials()[trial])
    kept = decode_standing(head.snapshot)
    if kept is not None:
        return kept
    live = call.service.desk.trial(trial)
    return standing_of(view, live.number, live.design.engine(), head.position)  # the live one is the writer's


async def show_trial(call: Call) -> TrialView:
    """A trial: to a site what it may know, to others everything."""

    def look(view: Reading) -> TrialView:
        live = call.service.desk.trial(call.trial)
        design, head = live.design, view.head(live.number)
        standing = _standing(call, view, call.trial)
        if call.holder.role == "site":
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

    return await call.service.read(look)


async def pause(call: Call) -> Answer:
    """No more recommendations for now."""
    return await _change_status(call, "paused")


async def resume(call: Call) -> Answer:
    """Go on."""
    return await _change_status(call, "open")


async def close(call: Call) -> Answer:
    """End a trial for good."""
    return await _change_status(call, "closed")


async def _change_status(call: Call, status: str) -> Answer:
    return await call.ask(
        ChangeStatus(
            trial=call.trial, request=call.request, by=call.holder.by, status=status, reason=call.body.reason
        )
    )


async def unblind(call: Call) -> Answer:
    """Say what is in a kit, and record that it was said."""
    body = call.body
    return await call.ask(
        Unblind(trial=call.trial, request=call.request, by=call.holder.by, kit=body.kit, reason=body.reason)
    )


async def erase(call: Call) -> Answer:
    """Forget who a subject is."""
    body = call.body
    return await call.ask(
        Erase(trial=call.trial, request=call.request, by=call.holder.by, site=body.site, subject=body.subject)
    )


async def results(call: Call) -> Results:
    """What the trial has found so far."""

    def look(view: Reading) -> Results:
        live = call.service.desk.trial(call.trial)
        return call.service.results.of(view, live.number, live.design)

    return await call.service.read(look)
