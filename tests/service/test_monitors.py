"""All who watch a trial share the computation of its monitor, however its log grows meanwhile."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from adhere.design.make_design import make_design
from adhere.service.jobs.monitors import Monitors, RunningMonitors
from adhere.service.pages.handle_page import COOKIE
from adhere.service.pages.monitor import page as monitor_page
from adhere.store import open_store
from adhere.trial.domain.commands import Recommend
from adhere.trial.writing.processor import CommandProcessor
from adhere_client.responses.monitor import Monitor

from .pages.person import sign_in
from .serving import Service, wait_until

WATCHERS = 50


class Counted:
    """The computations of monitors in this process: how many there were, how many at once; they can be held up."""

    def __init__(self) -> None:
        self.n, self.at_once, self.most_at_once = 0, 0, 0
        self.begun, self.may_go = threading.Semaphore(0), threading.Event()

    @contextmanager
    def one(self) -> Iterator[None]:
        self.n += 1
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        self.begun.release()
        yield
        self.may_go.wait(20)
        self.at_once -= 1


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Counted:
    found, compute = Counted(), RunningMonitors.monitor

    def counting(monitors: RunningMonitors, trial: str) -> Monitor:
        with found.one():
            return compute(monitors, trial)  # the log is read; what it grows by from now on is not in it

    monkeypatch.setattr(RunningMonitors, "monitor", counting)
    return found


@pytest.fixture
def processor() -> Iterator[CommandProcessor]:
    processor = CommandProcessor(open_store())  # in memory: its monitors are made in this process
    processor.create(make_design("t", "uniform", ("a", "b")))
    yield processor
    processor.store.close()


def grow(processor: CommandProcessor, subject: str) -> str:
    """Add a record to the log; returns its head."""
    processor.execute([Recommend(trial="t", request_id=subject, subject=subject)])
    return head(processor)


def head(processor: CommandProcessor) -> str:
    with processor.store.reading() as view:
        return view.head(processor.trial("t").number).hash.hex()


def test_fifty_who_watch_a_growing_trial_share_one_computation(processor: CommandProcessor, counted: Counted) -> None:
    async def main() -> list[Monitor]:
        monitors = Monitors(processor)
        first = asyncio.create_task(monitors.get("t", head(processor)))
        await asyncio.to_thread(counted.begun.acquire)
        rest = []
        for number in range(WATCHERS):  # each has seen another head, all of them later than the first
            rest.append(asyncio.create_task(monitors.get("t", grow(processor, f"S-{number}"))))
            await asyncio.sleep(0)
        counted.may_go.set()
        found = [await first, *await asyncio.gather(*rest)]
        assert await monitors.get("t", head(processor)) is found[-1]  # nothing has changed
        monitors.close()
        return found

    first, *rest = asyncio.run(main())
    assert first.recommendations == 0
    assert [one.recommendations for one in rest] == [WATCHERS] * WATCHERS
    assert (counted.n, counted.most_at_once) == (2, 1)


def test_who_asks_for_what_has_not_begun_takes_it(processor: CommandProcessor, counted: Counted) -> None:
    """The thread is busy with another trial; what waits for it reads the log later than all who have asked so far."""
    processor.create(make_design("other", "uniform", ("a", "b")))

    async def main() -> list[Monitor]:
        monitors = Monitors(processor)
        other = asyncio.create_task(monitors.get("other", ""))
        await asyncio.to_thread(counted.begun.acquire)
        asked = []
        for number in range(3):
            asked.append(asyncio.create_task(monitors.get("t", grow(processor, f"S-{number}"))))
            await asyncio.sleep(0)
        counted.may_go.set()
        await other
        found = await asyncio.gather(*asked)
        monitors.close()
        return found

    assert [one.recommendations for one in asyncio.run(main())] == [3, 3, 3]
    assert counted.n == 2


def test_who_was_told_of_a_change_takes_what_was_computed_since(
    processor: CommandProcessor, counted: Counted
) -> None:
    counted.may_go.set()

    async def main() -> list[Monitor]:
        monitors, noticed_at = Monitors(processor), time.monotonic()
        found = [await monitors.get("t", grow(processor, "S-0"), noticed_at)]
        for number in range(1, 4):  # the log grows on, and they ask one after the other
            found.append(await monitors.get("t", grow(processor, f"S-{number}"), noticed_at))
        assert monitors.made_since("t", noticed_at) is found[0]
        assert monitors.made_since("t", time.monotonic()) is None
        found.append(await monitors.get("t", head(processor)))
        monitors.close()
        return found

    assert [one.recommendations for one in asyncio.run(main())] == [1, 1, 1, 1, 4]
    assert counted.n == 2


def test_the_processes_of_a_service_compute_one_after_the_other(
    processor: CommandProcessor, counted: Counted, tmp_path: Path
) -> None:
    async def main() -> list[Monitor]:
        workers = [Monitors(processor, shared_folder=str(tmp_path)) for _ in range(3)]
        asked = [asyncio.create_task(monitors.get("t", head(processor))) for monitors in workers]
        await asyncio.to_thread(counted.begun.acquire)
        threading.Timer(0.2, counted.may_go.set).start()  # time for the others to begin, if nothing kept them from it
        found = await asyncio.gather(*asked)
        for monitors in workers:
            monitors.close()
        return list(found)

    assert len(asyncio.run(main())) == 3
    assert (counted.n, counted.most_at_once) == (3, 1)


def test_a_computation_that_failed_fails_only_those_whose_it_is(
    processor: CommandProcessor, counted: Counted, monkeypatch: pytest.MonkeyPatch
) -> None:
    compute = RunningMonitors.monitor

    def failing_once(monitors: RunningMonitors, trial: str) -> Monitor:
        found = compute(monitors, trial)
        if counted.n == 1:
            raise ZeroDivisionError
        return found

    monkeypatch.setattr(RunningMonitors, "monitor", failing_once)

    async def main() -> list[Any]:
        monitors = Monitors(processor)
        first = asyncio.create_task(monitors.get("t", head(processor)))
        await asyncio.to_thread(counted.begun.acquire)
        second = asyncio.create_task(monitors.get("t", grow(processor, "S-1")))
        await asyncio.sleep(0)
        counted.may_go.set()
        found = await asyncio.gather(first, second, return_exceptions=True)
        monitors.close()
        return list(found)

    first, second = asyncio.run(main())
    assert isinstance(first, ZeroDivisionError)
    assert second.recommendations == 1


def test_the_parts_of_the_page_are_rendered_once_for_all(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    trial, rendered, render = service.new_trial(policy="uniform"), [], monitor_page._rendered_parts
    may_go = threading.Event()

    def slowly(*arguments: Any) -> str:
        rendered.append(arguments)
        may_go.wait(20)
        return render(*arguments)

    monkeypatch.setattr(monitor_page, "_rendered_parts", slowly)
    cookie = f"{COOKIE}={sign_in(service, 'statistician').secret}"
    asking = partial(
        service.send,
        "GET",
        f"/app/trials/{trial}/monitor",
        role=None,
        headers={"Cookie": cookie, "HX-Request": "true"},
    )
    with ThreadPoolExecutor(8) as several:
        asked = [several.submit(asking) for _ in range(8)]
        try:  # until all have their numbers, and wait for the parts
            wait_until(lambda: sum(row.count for row in service.client().accesses(trial)) == 8, 30)
        finally:
            may_go.set()
        texts = {one.result().body for one in asked}
    assert (len(rendered), len(texts)) == (1, 1)
