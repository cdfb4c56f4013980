"""Many ask for the same at once: exactly one recommendation for one request id, and one log that replays."""

from __future__ import annotations

import random
import threading
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

from adhere.design.make_design import make_design
from adhere.store import open_store
from adhere.trial.domain.commands import Recommend, Report
from adhere.trial.log.replay import replay
from adhere.trial.log.verify import verify
from adhere.trial.writing.processor import CommandProcessor

N_REQUESTS = 60
ARMS = ("a", "b")


def ask_for_all(where: str, number: int, processor: CommandProcessor | None = None) -> list[Any]:
    """Ask and report under the same ids as everybody else, in another order, in batches of several."""
    processor = processor or CommandProcessor(open_store(where))
    luck = random.Random(number)
    answers: dict[int, Any] = {}
    numbers = list(range(N_REQUESTS))
    luck.shuffle(numbers)
    while numbers:
        some = [numbers.pop() for _ in range(min(len(numbers), luck.randint(1, 6)))]
        made: list[Any] = processor.execute([Recommend(trial="t", request_id=f"q{n}", subject=f"s{n}") for n in some])
        told: list[Any] = processor.execute(
            [
                Report(
                    trial="t",
                    request_id=f"r{n}",
                    recommendation_id=one.recommendation_id,
                    actual="a",
                    reward=float(n % 2),
                )
                for n, one in zip(some, made, strict=True)
            ]
        )
        answers |= {n: (one, two.record) for n, one, two in zip(some, made, told, strict=True)}
    return [answers[n] for n in range(N_REQUESTS)]


def check(where: str | Path, answers: list[list[Any]]) -> None:
    assert all(theirs == answers[0] for theirs in answers[1:])
    store = open_store(where, read_only=True)
    with store.reading() as view:
        asked = Counter(record.request_id for record in view.records(1, 1, 10**5))
        assert asked == dict.fromkeys([f"{kind}{n}" for kind in "qr" for n in range(N_REQUESTS)], 1)
        assert verify(view, 1).fault is None
        assert replay(view, 1).difference is None
    store.close()


@pytest.mark.slow
def test_four_processes_on_postgresql(database_url: str) -> None:
    store = open_store(database_url)
    CommandProcessor(store).create(make_design("t", "thompson/actual", ARMS))
    store.close()
    with ProcessPoolExecutor(4, mp_context=get_context("spawn")) as pool:
        check(database_url, list(pool.map(ask_for_all, [database_url] * 4, range(4))))


def test_eight_threads_on_sqlite(tmp_path: Path) -> None:
    store = open_store(tmp_path / "trials.db")
    processor = CommandProcessor(store)
    processor.create(make_design("t", "thompson/actual", ARMS))
    answers: dict[int, list[Any]] = {}

    def play(number: int) -> None:
        answers[number] = ask_for_all("", number, processor)

    threads = [threading.Thread(target=play, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    store.close()
    check(tmp_path / "trials.db", list(answers.values()))
