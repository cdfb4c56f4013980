"""What the service does unasked: it reads tokens again, and applies rules for missing reports."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial

from adhere.errors import InputError
from adhere.service.calls import Service
from adhere.service.warming import warm
from adhere.store import Reading
from adhere.trial.design import Design
from adhere.trial.requests import Examine

log = logging.getLogger("adhere.service")


@asynccontextmanager
async def background_tasks(service: Service) -> AsyncIterator[None]:
    """Run them for as long as the block lasts."""
    settings = service.settings
    tasks = [
        asyncio.create_task(_every(settings.refresh_every, lambda: service.beside(service.tokens.refresh))),
        asyncio.create_task(_every(settings.examine_every, lambda: examine(service))),
        asyncio.create_task(_warm_all(service)),
    ]
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
        except Exception:  # whatever it was, there is a next time
            log.warning("something done at intervals failed this time", exc_info=True)


async def examine(service: Service) -> None:
    """Apply the rule for missing reports of every trial that has one."""
    for design in await _designs(service):
        if design.impute is not None:
            await service.writer.ask(Examine(trial=design.name, request="", by="service"))


async def _designs(service: Service) -> list[Design]:
    def look(view: Reading) -> list[Design]:
        found = []
        for name in view.trials():
            try:
                found.append(service.desk.trial(name).design)
            except InputError as error:  # its policy was not imported: its own requests will say so
                log.warning("a trial cannot be served: %s", error)
        return found

    return await service.read(look)


async def _warm_all(service: Service) -> None:
    """Compile what the trials there are will need; one of each kind is enough."""
    kinds = {(design.policy, len(design.arms), design.reward_values): design for design in await _designs(service)}
    for design in kinds.values():
        await service.beside(partial(warm, design))
