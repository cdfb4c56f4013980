"""Background tasks: probe the store, refresh the tokens, apply rules for missing reports, verify the logs, compile
the policies of known trials.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

from adhere.errors import InputError
from adhere.service.context import Service
from adhere.service.verification import Verifier
from adhere.store import ReadTransaction
from adhere.trial.commands import ImputeMissing
from adhere.trial.design import Design

_MAX_PAUSE_TO_VERIFY = 60.0  # seconds between two looks whether a trial's turn has come

log = logging.getLogger("adhere.service")


@asynccontextmanager
async def background_tasks(service: Service) -> AsyncIterator[None]:
    """Run the background tasks for as long as the block lasts."""
    settings = service.settings
    service.probe.start()
    tasks = [
        asyncio.create_task(_every(settings.refresh_every, lambda: service.in_thread(service.tokens.refresh))),
        asyncio.create_task(_every(settings.last_use_every, lambda: write_last_use(service))),
        asyncio.create_task(_every(settings.impute_every, lambda: impute_missing(service))),
        asyncio.create_task(_precompile_all(service)),
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
        except Exception:  # a task that failed once must still run the next time
            log.warning("background task failed", exc_info=True)


async def write_last_use(service: Service) -> None:
    """Save when each token was last used."""
    await service.group_commit.run(service.tokens.write_last_use)


async def impute_missing(service: Service) -> None:
    """Apply the rule for missing reports of every trial that has one."""
    for design in await _designs(service):
        if design.impute is not None:
            await service.group_commit.execute(ImputeMissing(trial=design.name, request_id="", by="service"))


def precompile(design: Design) -> None:
    """Compile a design's policy before its first patient would have to wait for it."""
    design.engine().load()


async def _precompile_all(service: Service) -> None:
    """Compile the policies of all trials, each composition once."""
    kinds = {(design.policy, len(design.arms), design.reward_values): design for design in await _designs(service)}
    for design in kinds.values():
        await service.in_background(partial(precompile, design))


async def _designs(service: Service) -> list[Design]:
    def look(view: ReadTransaction) -> list[Design]:
        found = []
        for name in view.trials():
            try:
                found.append(service.processor.trial(name).design)
            except InputError as error:  # its policy was not imported; requests to the trial say so too
                log.warning("trial cannot be served: %s", error)
        return found

    return await service.read(look)
