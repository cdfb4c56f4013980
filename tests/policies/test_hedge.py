from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import oracle
from adhere import InputError, hedge, hierarchical_hedge


@pytest.mark.parametrize(("n_rounds", "n_actions"), [(1, 2), (30, 2), (200, 5)])
def test_hedge_plays_what_the_oracle_plays(n_rounds: int, n_actions: int) -> None:
    losses = np.random.default_rng(n_rounds).random((n_rounds, n_actions))
    play, expected = hedge(losses, eta=0.3), oracle.hedge(losses.tolist(), eta=0.3)
    assert play.weights == pytest.approx(np.array(expected.mixtures[:-1]), abs=1e-12)
    assert play.losses == pytest.approx(np.array(expected.losses), abs=1e-12)
    assert play.regret == pytest.approx(sum(expected.losses) - losses.sum(axis=0).min(), abs=1e-9)


@pytest.mark.parametrize("shape", [(1, 2, 2), (60, 3, 2), (100, 4, 5)])
def test_hierarchical_hedge_plays_what_the_oracle_plays(shape: tuple[int, int, int]) -> None:
    losses = np.random.default_rng(shape[0]).random(shape)
    play = hierarchical_hedge(losses, eta=0.4, rho=0.7)
    expected = oracle.hierarchical_hedge(losses.tolist(), eta=0.4, rho=0.7)
    assert play.top_weights == pytest.approx(np.array(expected.tops[:-1]), abs=1e-12)
    assert play.weights == pytest.approx(np.array(expected.bottoms[:-1]), abs=1e-12)
    assert play.losses == pytest.approx(np.array(expected.losses), abs=1e-12)
    compound = (play.weights * losses).sum(axis=2).sum(axis=0)
    assert play.regret_to_experts == pytest.approx(play.losses.sum() - compound.min(), abs=1e-9)
    assert play.regret_to_actions == pytest.approx(play.losses.sum() - losses.sum(axis=0).min(), abs=1e-9)


def adversaries(n_rounds: int, n_actions: int) -> dict[str, Any]:
    """Losses that are hard in different ways."""
    rng = np.random.default_rng(n_actions)
    rounds, actions = np.arange(n_rounds)[:, None], np.arange(n_actions)[None, :]
    return {
        "one good action": np.broadcast_to(actions > 0, (n_rounds, n_actions)).astype(float),
        "by turns": (rounds % n_actions == actions).astype(float),
        "change of mind": ((actions == 0) == (rounds < n_rounds // 2)).astype(float),
        "coins": (rng.random((n_rounds, n_actions)) < 0.5).astype(float),
    }


@pytest.mark.parametrize(("n_rounds", "n_actions"), [(50, 2), (1000, 2), (1000, 7)])
def test_hedge_keeps_its_bound(n_rounds: int, n_actions: int) -> None:
    bound = math.sqrt(n_rounds * math.log(n_actions) / 2)
    for name, losses in adversaries(n_rounds, n_actions).items():
        assert hedge(losses).regret <= bound + 1e-9, name


@pytest.mark.parametrize(("n_rounds", "n_actions"), [(50, 2), (1000, 3)])
def test_hierarchical_hedge_keeps_both_bounds(n_rounds: int, n_actions: int) -> None:
    n_experts = 3
    to_experts = math.sqrt(n_rounds * math.log(n_experts) / 2)
    to_actions = to_experts + math.sqrt(n_rounds * math.log(n_actions) / 2)
    for name, flat in adversaries(n_rounds, n_experts * n_actions).items():
        play = hierarchical_hedge(flat.reshape(n_rounds, n_experts, n_actions))
        assert play.regret_to_experts <= to_experts + 1e-9, name
        assert play.regret_to_actions <= to_actions + 1e-9, name


def test_weights_survive_very_long_games() -> None:
    play = hedge(np.tile([0.0, 1.0], (100_000, 1)), eta=50.0)
    assert np.isfinite(play.weights).all()
    assert play.weights[-1].tolist() == [1.0, 0.0]


@pytest.mark.parametrize(
    "losses", [[], [0.5], [[0.5]], [[]], [[0.5, 1.1]], [[0.5, -0.1]], [[0.5, math.nan]], [[[0.1, 0.2]]]]
)
def test_losses_must_be_a_matrix_of_unit_numbers(losses: Any) -> None:
    with pytest.raises(InputError, match=r"^losses: "):
        hedge(losses)


@pytest.mark.parametrize("losses", [[[0.5, 0.5]], [[[0.5]]], [[[0.5, 2.0]]], []])
def test_hierarchical_losses_must_be_a_tensor_of_unit_numbers(losses: Any) -> None:
    with pytest.raises(InputError, match=r"^losses: "):
        hierarchical_hedge(losses)


@pytest.mark.parametrize("rate", [0.0, -1.0, math.nan, math.inf])
def test_rates_must_be_positive(rate: float) -> None:
    with pytest.raises(InputError, match=r"^eta: "):
        hedge([[0.0, 1.0]], eta=rate)
    with pytest.raises(InputError, match=r"^rho: "):
        hierarchical_hedge([[[0.0, 1.0]]], rho=rate)
