from __future__ import annotations

import pytest

from adhere.policies import as_policy
from adhere.studies.lineup import (
    ALL,
    BOUNDED,
    GREEDY,
    HEADLINES,
    HIERARCHICAL,
    LEARNERS,
    LITERAL,
    MAIN,
    PLAIN,
    RECYCLING,
    STRATEGIES,
    Entry,
)


@pytest.mark.parametrize("one", ALL, ids=lambda one: one.policy)
def test_every_entry_is_a_policy_in_its_shortest_text(one: Entry) -> None:
    assert str(as_policy(one.policy)) == one.policy


def test_main_has_every_learner_under_every_strategy() -> None:
    assert {(one.learner, one.strategy) for one in MAIN} == {(lea, st) for lea in LEARNERS for st in STRATEGIES}
    assert all(one.variant == PLAIN for one in MAIN)


def test_no_policy_stands_twice() -> None:
    assert len({one.policy for one in ALL}) == len(ALL)
    assert len({(one.learner, one.label) for one in ALL}) == len(ALL)


@pytest.mark.parametrize("learner", LEARNERS)
def test_every_hybrid_is_there_in_every_reading(learner: str) -> None:
    of_learner = {(one.strategy, one.variant) for one in ALL if one.learner == learner}
    assert of_learner >= {(BOUNDED, variant) for variant in (PLAIN, LITERAL, RECYCLING)}
    assert of_learner >= {(HIERARCHICAL, variant) for variant in (PLAIN, RECYCLING)}


def test_headlines_are_those_of_the_reading() -> None:
    """`shared/paper/reading.md`, "headline lines"."""
    inner = "hierarchical(epsilon-greedy, top=exp3(gamma=0.085))"
    assert [one.policy for one in HEADLINES] == ["thompson", f"thompson-bounded({inner}, recycle=true)", inner]
    assert set(HEADLINES) <= set(ALL)
    assert {one.learner for one in HEADLINES[1:]} == {GREEDY}
