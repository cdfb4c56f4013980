"""Burn-in: permuted blocks, each balanced, stated place by place; then the policy inside."""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations
from math import comb
from random import Random
from typing import Any

import numpy as np
import pytest
from scipy import stats

import adhere
from adhere import InputError, Trial, parse_policy
from adhere.analysis.adaptive.policy_play import Allocator, Schedule
from adhere.compilation.policy_failures import as_python
from adhere.contract.interpreted import Interpreted
from adhere.policies.guards.permuted_blocks import predictable_share, write_block_shares
from adhere.randomness import stream_keys
from oracle.permuted import PermutedBlocks
from simulation.engine import arms_of
from simulation.mixed_populations import engine_population, rows_for
from slow import slow

from .guarded import fields, guard_decided, interpreted


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("burn-in(thompson, block=4)", "burn-in block: got 4, expected a multiple of the number of arms, 3"),
        ("burn-in(thompson, block=0)", "burn-in block: got 0.0, expected a whole number at least 1"),
        ("burn-in(thompson, patients=2.5)", "burn-in patients: got 2.5, expected a whole number at least 1"),
        ("burn-in(thompson, patients=0)", "burn-in patients: got 0.0, expected a whole number at least 1"),
        ("burn-in(share=0.1)", "burn-in has no option 'share'"),
    ],
)
def test_what_does_not_fit_is_refused(text: str, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        parse_policy(text).resolved(3, 100)


def test_a_policy_without_a_block_stays_without_it() -> None:
    assert str(parse_policy("burn-in(thompson)").resolved(3, None)) == "burn-in(thompson)"
    assert parse_policy("burn-in(thompson)").algorithm_version == 2


@pytest.mark.parametrize(("n_arms", "block"), [(2, 4), (2, 2), (3, 6), (3, 12), (5, 10)])
def test_every_block_is_balanced_and_stated_place_by_place(n_arms: int, block: int) -> None:
    patients = 2 * block + block // 2  # so that the last block is cut
    with as_python(adhere):
        for run in range(3):
            trial = interpreted(f"burn-in(ucb1, patients={patients}, block={block})", n_arms)
            trial.turn_to(run)
            arms: list[int] = []
            for number in range(patients):
                decision = trial.decide(number)
                assert guard_decided(decision)
                so_far = arms[number - number % block :]
                left = np.array([block // n_arms - so_far.count(arm) for arm in range(n_arms)])
                assert trial.probabilities(number) == pytest.approx(left / left.sum())
                trial.note(decision)
                arms.append(decision.chosen)
            for first in range(0, patients - block + 1, block):
                assert Counter(arms[first : first + block]) == dict.fromkeys(range(n_arms), block // n_arms)
            assert max(Counter(arms[2 * block :]).values()) <= block // n_arms
            assert not guard_decided(trial.decide(patients))


@pytest.mark.parametrize(
    ("policy", "arms", "expected"),
    [
        ("burn-in(thompson, patients=24, block=4)", "ab", "baabaabbbaabbabaababbaba"),
        ("burn-in(thompson, patients=24, block=6)", "abc", "cbaabccbbaacbaccabbccaba"),
        slow("burn-in(floor(ucb1), patients=24, block=15)", "abcde", "ecceaeadbbcddabdbccebeaa"),
    ],
)
def test_blocks_of_one_length_have_the_arms_of_version_1(policy: str, arms: str, expected: str) -> None:
    trial = Trial(policy, list(arms), seed=7)
    assert "".join(trial.recommend().arm for _ in expected) == expected


@pytest.mark.parametrize("n_arms", [2, 3])
def test_varying_blocks_are_stated_given_the_arms_so_far_and_no_length(n_arms: int) -> None:
    with as_python(adhere):
        trial, seen = interpreted("burn-in(ucb1, patients=30)", n_arms, seed=2), varying(n_arms)
        for number in range(30):
            stated = trial.probabilities(number)
            assert stated == pytest.approx([float(share) for share in seen.shares()])
            decision = trial.decide(number)
            assert guard_decided(decision)
            assert stated[decision.chosen] > 0.0
            trial.note(decision)
            seen.add(decision.chosen)


def test_sequences_come_as_often_as_if_lengths_were_drawn_and_blocks_permuted() -> None:
    """Of 8 patients after the first 4: by then a block may have begun at several places."""
    n_runs, rng = 20_000, Random(1)
    chosen = arms_of_runs("burn-in(uniform, patients=12)", 12, n_runs)[:, 4:]
    drawn = Counter(tuple(arms_drawn(2, 12, rng)[4:]) for _ in range(n_runs))
    found = Counter(map(tuple, chosen.tolist()))
    every = sorted(drawn.keys() | found.keys(), key=lambda arms: drawn[arms] + found[arms])
    often = [arms for arms in every if drawn[arms] + found[arms] >= 20]
    rare = [sum(one[arms] for arms in every if arms not in often) for one in (found, drawn)]
    table = np.array([[*(one[arms] for arms in often), few] for one, few in zip((found, drawn), rare, strict=True)])
    assert len(often) > 200
    assert stats.chi2_contingency(table).pvalue > 0.001


def test_inverse_weighting_has_no_bias_at_any_place() -> None:
    n_runs, n = 20_000, 24
    engine = Allocator("burn-in(uniform, patients=24)", 2, Schedule.delayed(0, n))
    played = engine.play(np.zeros((n, 2), int), np.zeros((n, 2)), stream_keys(5, 0, n_runs))
    stated = np.take_along_axis(played.probabilities, played.chosen[..., None], axis=2)[..., 0]
    assert (stated > 0.0).all()
    for arm in range(2):
        weights = (played.chosen == arm) / stated
        # Where an arm is certain not to come, nobody is weighted for it: what is left is the probability of the rest.
        possible = (played.probabilities[..., arm] > 0.0).mean(axis=0)
        errors = weights.std(axis=0) / math.sqrt(n_runs)
        assert (np.abs(weights.mean(axis=0) - possible) < 4.0 * errors + 1e-12).all()


def test_an_observer_of_all_arms_can_predict_far_fewer_than_with_blocks_of_four() -> None:
    n_runs, n, shares = 400, 200, {}
    for block in ("", ", block=4"):
        engine = Allocator(f"burn-in(uniform, patients={n}{block})", 2, Schedule.delayed(0, n))
        played = engine.play(np.zeros((n, 2), int), np.zeros((n, 2)), stream_keys(3, 0, n_runs))
        shares[block] = float((played.probabilities.max(axis=2) == 1.0).mean())
    assert shares[", block=4"] == pytest.approx(predictable_share(2, 4), abs=0.005) == pytest.approx(1 / 3, abs=0.005)
    assert shares[""] == pytest.approx(0.023, abs=0.003)  # about 1 in 40, as the docs have it
    assert shares[""] <= shares[", block=4"] / 3


def test_every_arm_takes_its_place_whoever_drew_it() -> None:
    """A floor around a burn-in decides some rounds, and so does a sampler of thompson-bounded."""
    for policy in ("floor(burn-in(ucb1, patients=30), share=0.25)", "thompson-bounded(burn-in(ucb1, patients=30))"):
        with as_python(adhere):
            trial, seen = interpreted(policy, 2, seed=4), varying(2)
            n_reset = 0
            for number in range(30):
                assert blocks_of(trial) == pytest.approx([float(share) for share in seen.shares()])
                decision = trial.decide(number)
                trial.note(decision)
                seen.add(decision.chosen)
                n_reset += len(seen.arms) == 1
            assert n_reset > 1  # an arm that no block allows begins a new one


def blocks_of(trial: Interpreted) -> list[float]:
    """What the blocks of a burn-in inside a policy say."""
    out = np.zeros(trial.n_arms)
    write_block_shares(trial.rule.inner.blocks, fields(trial.rule, np.array(trial.state)).inner.blocks, out)
    return [float(share) for share in out]


def varying(n_arms: int) -> PermutedBlocks:
    return PermutedBlocks(n_arms, [2 * n_arms, 3 * n_arms, 4 * n_arms])


def arms_of_runs(policy: str, n_patients: int, n_runs: int) -> Any:
    engine = Allocator(policy, 2, Schedule.delayed(0, n_patients))
    nothing = np.zeros((n_patients, 2))
    return engine.play(nothing.astype(int), nothing, stream_keys(9, 0, n_runs)).chosen


def arms_drawn(n_arms: int, n_patients: int, rng: Random) -> list[int]:
    """The arms of blocks whose lengths are drawn and whose arms are shuffled."""
    arms: list[int] = []
    while len(arms) < n_patients:
        block = list(range(n_arms)) * rng.choice([2, 3, 4])
        rng.shuffle(block)
        arms += block
    return arms[:n_patients]


def test_every_order_of_a_block_is_as_likely_as_another() -> None:
    orders = Counter(map(tuple, arms_of_runs("burn-in(ucb1, patients=8, block=4)", 8, 400)[:, 4:].tolist()))
    assert len(orders) == comb(4, 2)
    assert stats.chisquare(list(orders.values())).pvalue > 0.001


def test_after_it_the_policy_inside_has_learned_from_everybody() -> None:
    with as_python(adhere):
        guarded, alone = interpreted("burn-in(ucb1, patients=6)", 2), interpreted("ucb1", 2)
        for number in range(12):
            decision = guarded.decide(number)
            if number >= 6:
                assert alone.decide(number).chosen == decision.chosen
            guarded.note(decision)
            for trial in (guarded, alone):
                trial.learn(decision._replace(memo=decision.memo[: trial._kept]), 0, float(number % 2))
            assert np.array_equal(guarded.state[: alone.state.size], alone.state)


def test_each_guard_draws_numbers_of_its_own() -> None:
    """A floor around a burn-in decides some of its rounds."""
    population = engine_population(rows_for("ucb1", 2))
    alone, inside, twice = (
        arms_of(policy, population, 40, 4, 3, compiled=False)
        for policy in (
            "burn-in(ucb1, patients=40)",
            "floor(burn-in(ucb1, patients=40), share=0.25)",
            "floor(floor(burn-in(ucb1, patients=40), share=0.25), share=0.25)",
        )
    )
    # The floor's arms take places in the blocks, so that later arms differ too.
    assert all(0.15 < (one != other).mean() < 0.55 for one, other in combinations((alone, inside, twice), 2))
