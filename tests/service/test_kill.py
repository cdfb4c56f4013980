"""kill -9 under load, again and again: what was acknowledged is there, once."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from msgspec import to_builtins

from adhere.store import open_store
from adhere.trial.domain.events import EpochBegun, Recommended, Reported, decode
from adhere.trial.domain.log_records import walk
from adhere.trial.log.replay import replay
from adhere.trial.log.verify import verify

from .crashing import ARMS, forking, free_port, new_trial, run_service, wait_until_ready
from .hammering import Hammer, hammer_until_killed

N_CLIENTS = 8


@pytest.mark.parametrize("n_rounds", [8, pytest.param(50, marks=pytest.mark.slow)])
def test_nothing_acknowledged_is_lost_to_kills(tmp_path: Path, n_rounds: int) -> None:
    path, context, luck = tmp_path / "trials.db", forking(), random.Random(3)
    token = new_trial(path)
    hammers = [Hammer(f"c{n}", token) for n in range(N_CLIENTS)]
    n_unanswered = 0
    for _ in range(n_rounds):
        port = free_port()
        service = context.Process(target=run_service, args=(str(path), port))
        service.start()
        wait_until_ready(port, service)

        def kill(service: Any = service) -> None:
            service.kill()
            service.join()

        hammer_until_killed(hammers, port, luck.randint(N_CLIENTS, 8 * N_CLIENTS), kill)
        n_unanswered += sum(hammer.unanswered is not None for hammer in hammers)
    assert [hammer.refused for hammer in hammers] == [[]] * N_CLIENTS
    acknowledged = {key: answer for hammer in hammers for key, answer in hammer.acknowledged.items()}
    assert len(acknowledged) > n_rounds * N_CLIENTS
    assert n_unanswered > n_rounds  # the kills did come in the middle
    store = open_store(path)
    with store.reading() as view:
        check_all_there(view, acknowledged)
        assert not [one for one in walk(view, 1) if isinstance(decode(one.body), EpochBegun)]  # nothing was lost
    store.close()


def check_all_there(view: Any, acknowledged: dict[str, dict[str, Any]]) -> None:
    """Every acknowledged answer is in the log as it was given; the chain is whole; replay comes out the same."""
    events = {record.request_id: decode(record.body) for record in view.records(1, 0, 10**6)}
    made = [event for event in events.values() if isinstance(event, Recommended)]
    ids = {event.recommendation_index: event.recommendation_id for event in made}
    assert len(set(ids.values())) == len(ids)
    for key, answer in acknowledged.items():
        assert f"Leeds/{key}" in events, f"{key} was acknowledged and is gone"
        event = events[f"Leeds/{key}"]
        if isinstance(event, Recommended):
            assert answer == {"recommendation_id": event.recommendation_id, "arm": ARMS[event.chosen]}
        else:
            assert isinstance(event, Reported)
            assert answer == {"at": to_builtins(event.at), "recommendation_id": ids[event.recommendation_index]}
    assert verify(view, 1).fault is None
    assert replay(view, 1).difference is None
