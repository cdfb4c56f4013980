"""A policy is a value: it prints, parses, compares, hashes, pickles, and running it does not change it."""

from __future__ import annotations

import copy
import json
import pickle

import pytest

from adhere import parse_policy, simulate
from adhere.policies import as_policy
from adhere.policies.base.registry import from_json, registry

from .playing import play, trial_on
from .policies_under_test import every_policy, variants
from .populations_under_test import graded_rewards, mixed


def test_every_registered_policy_is_under_test() -> None:
    """Tests declare policies too; those of the package must be in the one table."""
    own = {name for name, cls in registry.items() if cls.__module__.startswith("adhere.")}
    under_test = {part.name for text in every_policy(2) for part in parse_policy(text).parts()}
    assert own - under_test == set()


def test_text_and_json_lead_back_to_an_equal_policy(n_arms: int) -> None:
    for text in every_policy(n_arms):
        policy = parse_policy(text)
        assert parse_policy(str(policy)) == policy
        assert str(parse_policy(str(policy))) == str(policy)
        assert from_json(json.loads(json.dumps(policy.to_json()))) == policy
        assert as_policy(policy.to_json()) == as_policy(policy) == as_policy(text)


def test_a_copy_is_equal_and_hashes_alike(n_arms: int) -> None:
    for text in every_policy(n_arms):
        policy = parse_policy(text)
        for twin in (parse_policy(text), copy.deepcopy(policy), pickle.loads(pickle.dumps(policy))):
            assert twin == policy
            assert hash(twin) == hash(policy)
            assert str(twin) == str(policy)


def test_every_policy_is_equal_only_to_itself(n_arms: int) -> None:
    values = [parse_policy(text) for text in every_policy(n_arms)]
    assert len(set(values)) == len(values)
    assert len({str(value) for value in values}) == len(values)
    for place, value in enumerate(values):
        assert [i for i, other in enumerate(values) if other == value] == [place]
        assert value != object()


def test_a_policy_cannot_be_changed(n_arms: int) -> None:
    for text in every_policy(n_arms):
        policy = parse_policy(text)
        for name in (*vars(policy), "other"):
            with pytest.raises((AttributeError, TypeError)):
                setattr(policy, name, None)


def test_running_leaves_the_policy_as_it_was(subject: str, n_arms: int) -> None:
    population = mixed(n_arms, graded_rewards(subject))
    for text in variants(subject, n_arms):
        policy, untouched = parse_policy(text), parse_policy(text)
        results = [simulate(policy, population, 40, 5, progress=False)[0].reward for _ in range(2)]
        play(trial_on(policy, population, 40), population.patients(0, 0, 20))
        assert results[0] == results[1]
        assert policy == untouched
        assert repr(policy) == repr(untouched)
        assert hash(policy) == hash(untouched)
