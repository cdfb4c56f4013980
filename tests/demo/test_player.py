"""Patients played through the service: what the sites sent is what its log has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from adhere.demo.demo import PEOPLE, Demo, running_demo
from adhere.demo.player import Pace, Player, play

PATIENTS = 120


@pytest.fixture(scope="module")
def demo() -> Iterator[Demo]:
    with running_demo() as running:
        yield running


@pytest.fixture(scope="module")
def players(demo: Demo) -> list[Player]:
    found = demo.create_trials(8)
    for _ in play(found, Pace(head_start=PATIENTS, patients=PATIENTS)):
        pass
    return found


@pytest.mark.slow
def test_what_was_sent_twice_ran_once(demo: Demo, players: list[Player]) -> None:
    for player in players:
        end = _end(player)
        sent = [action for action in player.actions if action.time <= end]
        calls = Counter(action.call for action in sent)
        assert any(action.twice for action in sent)
        results = demo.admin.results(player.trial.name)
        looks = len(demo.admin.looks(player.trial.name))
        assert results.recommendations == calls["recommend"] == PATIENTS == player.played["recommend"]
        assert (results.lost_to_follow_up, results.entered_in_error) == (calls["withdraw"], calls["mark_in_error"])
        assert results.records == 1 + sum(calls.values()) + looks
        assert player.played["refused"] == 0


def test_people_have_their_roles(demo: Demo) -> None:
    roles = {token.label: (token.role, token.site) for token in demo.admin.tokens()}
    assert all(roles[person.name] == (person.role, person.site) for person in PEOPLE)


def test_a_trial_that_somebody_paused_is_no_error(demo: Demo, players: list[Player]) -> None:
    player = players[0]
    demo.admin.pause(player.trial.name, "lunch")
    later = next(action for action in player.actions if action.time > _end(player))
    player.perform(later)
    assert (later.call, player.played["recommend"], player.played["refused"]) == ("recommend", PATIENTS, 1)


def _end(player: Player) -> float:
    """When the last of the patients came; all until the next one was played."""
    arrivals = [action.time for action in player.actions if action.call == "recommend"]
    return max(action.time for action in player.actions if action.time < arrivals[PATIENTS])
