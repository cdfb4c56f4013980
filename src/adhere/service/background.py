"""Background tasks of the service.

They probe the store, refresh the tokens, apply rules for missing reports, make looks that are due by day, verify the
logs, load the policies of open trials, and read long logs for monitors.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

from adhere.errors import SecretUnknownError, UnavailableError, UnknownPolicyError
from adhere.service.context import Service
from adhere.service.jobs.child_process import JobProcessError
from adhere.service.verification import Verifier
from adhere.store import ReadTransaction, StoreError
from adhere.trial.domain.commands import ImputeMissing, Look, Response
from adhere.trial.log.look_view import stop_to_confirm
from adhere.trial.writing.snapshot import decode_snapshot
from adhere.trial.writing.transaction import LiveTrial

_BETWEEN_TRIES = 1.0  # seconds between attempts to list the trials while the store cannot be read
_LONG = 20_000  # number of records that the process for monitors reads in half a second
_MAX_PAUSE_TO_VERIFY = 60.0  # seconds between two checks whether a trial is due

log = logging.getLogger("adhere.service")


@asynccontextmanager
async def background_tasks(service: Service) -> AsyncIterator[None]:
    """Run the background tasks until the block ends."""
    settings = service.settings
    service.probe.start()
    tasks = [
        asyncio.create_task(_every(settings.refresh_every, lambda: service.in_thread(service.refresh))),
        asyncio.create_task(_every(settings.last_use_every, lambda: write_last_use(service))),
        asyncio.create_task(_every(settings.impute_every, lambda: impute_missing(service))),
        asyncio.create_task(_every(settings.impute_every, lambda: look_by_day(service))),
        asyncio.create_task(_load_all(service)),
    ]
    if settings.verify_heads is not None:
        verifier = Verifier(service, Path(settings.verify_heads), settings.verify_every)
        pause = min(settings.verify_every, _MAX_PAUSE_TO_VERIFY)
        tasks.append(asyncio.create_task(_every(pause, verifier.verify_due)))
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _every(seconds: float, work: Callable[[], Awaitable[None]]) -> None:
    while True:
        await asyncio.sleep(seconds)
        try:
            await work()
        except Exception:  # a task that fails once must still run the next time
            log.warning("background task failed", exc_info=True)


async def write_last_use(service: Service) -> None:
    """Save when each token was last used."""
    await service.group_commit.run(service.tokens.write_last_use)


async def impute_missing(service: Service) -> None:
    """Apply the rule for missing reports in every trial with such a rule."""
    for live in await _trials(service) or ():
        if live.design.impute is not None:
            command = ImputeMissing(trial=live.design.name, request_id="", by="service")
            while getattr(await _executed(service, command), "next_index", None) is not None:
                pass  # more reports may be due


async def look_by_day(service: Service) -> None:
    """Make the looks that are due in every trial with looks by day."""
    for live in await _trials(service) or ():
        if live.design.looks.days:
            await _executed(service, Look(trial=live.design.name, request_id="", by="service"))


async def _executed(service: Service, command: ImputeMissing | Look) -> Response | None:
    """Return the response to a command, or None if it cannot be executed now, so that other trials can continue."""
    try:
        return await service.group_commit.execute(command)
    except UnavailableError as error:
        log.warning("trial %r, %s was not done: %s", command.trial, type(command).__name__, error)
        return None


async def _load_all(service: Service) -> None:
    """Load the policies of all trials that are not closed. After that, the service is ready.

    A policy that cannot be loaded does not delay the others. Requests to its trial try to load it again, and are
    answered with 503 until that succeeds.
    """
    trials = await _trials(service)
    while trials is None:
        await asyncio.sleep(_BETWEEN_TRIES)
        trials = await _trials(service)
    # Policies that need no compiler come first, because Numba loads nothing else while it compiles.
    for live in sorted(trials, key=lambda live: not live.engine.loads_at_once):
        await service.in_compiler(partial(_load, service, live))
    service.loaded = True
    for live in trials:
        await _prepare_follow_up(service, live)
    if service.settings.workers == 1:  # one of several workers might never show them
        await read_ahead(service, [live.design.name for live in trials])


async def read_ahead(service: Service, trials: Sequence[str]) -> None:
    """Read the logs of long trials in advance, so that nobody waits for their monitors."""
    for trial in trials:
        try:
            head = await service.head(trial)
            if head.position >= _LONG:
                await service.monitors.get(trial, head.hash.hex())
        except Exception as error:  # readers of the monitor see the error
            log.warning("the log of trial %r was not read ahead: %s", trial, error)


async def _prepare_follow_up(service: Service, live: LiveTrial) -> None:
    """Read a long log in advance, in the process for jobs, so that the first list of awaited reports is fast."""
    try:
        head = await service.head(live.design.name)
        await service.follow_ups.prepare(live.design.name, live.number, head.position)
    except (StoreError, JobProcessError, OSError) as error:  # the next request sees the error
        log.warning("the follow-up of trial %s was not read ahead: %s", live.design.name, error)


def _load(service: Service, live: LiveTrial) -> None:
    try:
        service.processor.make_ready(live)
        with service.store.reading() as view:  # a stop that was recommended before the service started
            if stop_to_confirm(view, live.number) is not None:
                service.metrics.set_stop(live.design.name, is_recommended=True)
            snapshot = decode_snapshot(view.head(live.number).snapshot)
        for commitment in () if snapshot is None else (snapshot.commitments[0], snapshot.commitments[-1]):
            live.engine.keys.check(commitment)
    except SecretUnknownError as error:
        log.error("trial %r can recommend nothing: %s", live.design.name, error)
    except (StoreError, UnavailableError) as error:
        log.error("trial %r cannot be loaded: %s", live.design.name, error.__cause__ or error)


async def _trials(service: Service) -> list[LiveTrial] | None:
    """Return the trials that are not closed and have a known policy, or None if the store cannot be read."""

    def look(view: ReadTransaction) -> list[LiveTrial]:
        found = []
        for name, number in view.trials().items():
            snapshot = decode_snapshot(view.head(number).snapshot)
            if (snapshot is not None and snapshot.status == "closed") or name in service.unservable:
                continue
            try:
                live = service.processor.trial(name)
                if live.is_live:  # a trial that was saved from memory takes no commands
                    found.append(live)
            except UnknownPolicyError as error:  # it was not imported; requests to the trial are answered with 503
                service.unservable.add(name)
                log.error("%s", error)
        return found

    try:
        return await service.read(look)
    except (StoreError, UnavailableError, OSError) as error:
        log.warning("the trials cannot be listed: %s", error)
        return None
