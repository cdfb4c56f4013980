"""Who waits for a trial's log to grow."""

from __future__ import annotations

import asyncio
import time
from contextlib import aclosing

import pytest

from adhere.errors import StoreError
from adhere.service.changes import Changes


class Log:
    """A head that changes when it is told to, and how often it was looked at."""

    def __init__(self) -> None:
        self.head, self.n_looks, self.fails = "a", 0, False

    async def head_of(self, trial: str) -> str:
        self.n_looks += 1
        if self.fails:
            raise StoreError("locked")
        return self.head


def test_one_look_serves_all_and_none_is_made_for_nobody() -> None:
    async def watch() -> None:
        log = Log()
        changes = Changes(log.head_of, every=0.01)
        heads = [changes.heads("t") for _ in range(10)]
        assert [await anext(one) for one in heads] == ["a"] * 10
        before = log.n_looks
        log.head, log.fails = "b", True  # which is logged, and looked at again
        waiting = [asyncio.ensure_future(anext(one)) for one in heads]
        await asyncio.sleep(0.05)
        log.fails = False
        assert await asyncio.gather(*waiting) == ["b"] * 10
        assert log.n_looks - before < 20
        for one in heads:
            await one.aclose()
        after = log.n_looks
        await asyncio.sleep(0.05)
        assert log.n_looks == after

    asyncio.run(watch())


def test_all_are_let_go_at_the_end_and_nobody_is_taken_after_it() -> None:
    async def watch() -> None:
        changes = Changes(Log().head_of, every=0.01)
        async with aclosing(changes.heads("t")) as heads:
            assert await anext(heads) == "a"
            rest = asyncio.ensure_future(_rest(changes))
            await asyncio.sleep(0)
            changes.end()
            assert await anext(heads, None) is None
            assert await rest == []
        assert await _rest(changes) == []

    async def _rest(changes: Changes) -> list[str | None]:
        return [head async for head in changes.heads("u")]

    asyncio.run(asyncio.wait_for(watch(), 5))


def test_many_are_told_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each asks for a page then, and requests of others come between."""
    monkeypatch.setattr("adhere.service.changes._BETWEEN_LISTENERS", 0.5)

    async def watch() -> None:
        log = Log()
        changes = Changes(log.head_of, every=1.0)
        heads = [changes.heads("t") for _ in range(4)]
        assert [await anext(one) for one in heads] == ["a"] * 4
        log.head = "b"
        waiting = [asyncio.ensure_future(anext(one)) for one in heads]
        before = time.monotonic()
        assert await waiting[0] == "b"
        noticed_at = changes.noticed_at("t", "b")
        assert noticed_at is not None
        assert before <= noticed_at <= time.monotonic()
        assert changes.noticed_at("t", "never told") is changes.noticed_at("u", "b") is None
        assert not waiting[-1].done()
        assert await asyncio.gather(*waiting) == ["b"] * 4
        for one in heads:
            await one.aclose()

    asyncio.run(watch())
