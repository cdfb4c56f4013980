"""Corrections give the state of the whole log, and lost caches are derived from it outside the transaction."""

from __future__ import annotations

import random
from contextlib import closing
from typing import Any

import pytest

from adhere.design.parts import Imputation
from adhere.store import open_store
from adhere.trial.domain.commands import Correct, Examined, ImputeMissing, Receipt
from adhere.trial.writing import derive_caches, running_state, transaction
from adhere.trial.writing.processor import CommandProcessor

from .live import ARMS, Live, number_of
from .test_running_state import POLICIES, check_against_the_log, played


@pytest.fixture(autouse=True)
def _short_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running_state, "CHECKPOINT_EVERY", 7)
    monkeypatch.setattr(derive_caches, "_BLOCKS_AT_ONCE", 3)


def correction(live: Live, number: int, name: str, **said: Any) -> Correct:
    return Correct(trial="t", request_id=name, recommendation_id=live.id_of(number), reason="a slip", **said)


@pytest.mark.parametrize("policy", POLICIES)
def test_corrections_give_the_state_of_the_whole_log(policy: str) -> None:
    live, rng = played(policy), random.Random(7)
    for turn in range(6):
        commands = [
            correction(live, rng.randrange(36), f"c{turn}-{i}", actual=rng.choice(ARMS)) for i in range(1 + turn % 2)
        ]
        assert all(isinstance(response, Receipt) for response in live.processor.execute(commands))
        check_against_the_log(live)
        live.recommend(f"after {turn}")


def test_on_postgresql_another_process_may_correct_between(database_url: str) -> None:
    with closing(open_store(database_url)) as store, closing(open_store(database_url)) as other:
        live = played(POLICIES[0], store=store)
        elsewhere = CommandProcessor(other, live.clock)
        live.send(correction(live, 1, "here", reward=0.5))
        assert isinstance(elsewhere.execute([correction(live, 7, "elsewhere", reward=0.25)])[0], Receipt)
        live.send(correction(live, 2, "here again", reward=0.5))
        check_against_the_log(live)
        _lose_caches(live)
        live.processor = CommandProcessor(store, live.clock)
        live.processor.prepare([command := correction(live, 3, "c", reward=0.5)])
        live.send(command)
        check_against_the_log(live)


def test_caches_are_derived_outside_the_transaction(monkeypatch: pytest.MonkeyPatch) -> None:
    live = played(POLICIES[0])
    _lose_caches(live)
    live.processor = type(live.processor)(live.store, live.clock)
    command = correction(live, 2, "c", reward=0.25)
    live.processor.prepare([command])

    def never(*_: object) -> None:
        raise AssertionError

    with monkeypatch.context() as patched:
        patched.setattr(transaction, "project", never)
        live.send(command)
        live.recommend("after")
    check_against_the_log(live)


def _lose_caches(live: Live) -> None:
    with live.store.writing() as writing:
        number = number_of(writing)
        head = writing.head(number)
        writing.drop_states(number, 0)
        writing.drop_updates(number, 0, 2**40)
        writing.append(number, [], head._replace(snapshot=b""))


def test_the_rule_for_missing_reports_takes_turns_with_others() -> None:
    live = Live(impute=Imputation(after_days=1, took_nothing=True, reward=0))
    for number in range(100):
        live.recommend(f"s{number}")
    live.clock.pass_days(2)
    command = ImputeMissing(trial="t", request_id="")
    assert [live.send(command) for _ in range(3)] == [Examined(64), Examined(100), Examined(None)]
    assert live.kinds().count("Imputed") == 100
