"""Many ask for the same at once: exactly one recommendation for one request id, and one log that replays."""

from __future__ import annotations

import random
import threading
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from adhere.store import open_store
from adhere.trial.chain import verify
from adhere.trial.design import make_design
from adhere.trial.desk import Desk
from adhere.trial.replay import replay
from adhere.trial.requests import Recommend, Report

N_REQUESTS = 60
ARMS = ("a", "b")


def ask_for_all(where: str, number: int, desk: Desk | None = None) -> list[Any]:
    """Ask and report under the same ids as everybody else, in another order, in batches of several."""
    desk = desk or Desk(open_store(where))
    luck = random.Random(number)
    answers: dict[int, Any] = {}
    numbers = list(range(N_REQUESTS))
    luck.shuffle(numbers)
    while numbers:
        some = [numbers.pop() for _ in range(min(len(numbers), luck.randint(1, 6)))]
        made: list[Any] = desk.handle([Recommend(trial="t", request=f"q{n}", subject=f"s{n}") for n in some])
        told: list[Any] = desk.handle(
            [
                Report(trial="t", request=f"r{n}", recommendation=one.recommendation, actual="a", reward=float(n % 2))
                for n, one in zip(some, made, strict=True)
            ]
        )
        answers |= {n: (one, two.record) for n, one, two in zip(some, made, told, strict=True)}
    return [answers[n] for n in range(N_REQUESTS)]


def check(where: str | Path, answers: list[list[Any]]) -> None:
    assert all(theirs == answers[0] for theirs in answers[1:])
    store = open_store(where, read_only=True)
    with store.reading() as view:
        asked = Counter(record.request for record in view.records(1, 1, 10**5))
        assert asked == dict.fromkeys([f"{kind}{n}" for kind in "qr" for n in range(N_REQUESTS)], 1)
        assert verify(view, 1).fault is None
        assert replay(view, 1).difference is None
    store.close()


def test_four_processes_on_postgresql(database_url: str) -> None:
    store = open_store(database_url)
    Desk(store).create(make_design("t", "thompson/actual", ARMS, seed=5))
    store.close()
    with ProcessPoolExecutor(4, mp_context=get_context("spawn")) as pool:
        check(database_url, list(pool.map(ask_for_all, [database_url] * 4, range(4))))


def test_eight_threads_on_sqlite(tmp_path: Path) -> None:
    store = open_store(tmp_path / "trials.db")
    desk = Desk(store)
    desk.create(make_design("t", "thompson/actual", ARMS, seed=5))
    answers: dict[int, list[Any]] = {}

    def play(number: int) -> None:
        answers[number] = ask_for_all("", number, desk)

    threads = [threading.Thread(target=play, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    store.close()
    check(tmp_path / "trials.db", list(answers.values()))
