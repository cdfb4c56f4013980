"""How the populations of each family are drawn."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from adhere.populations.population import Floats
from adhere.studies.arena.draws import Draws
from adhere.studies.arena.people import People, n_behaviours

N_GROUPS = 4
PROGNOSIS, EFFECT = (0.2, 0.8), 0.2  # of the mildly confounded
WEAK, STRONG, DEFYING = (0.1, 0.3), (0.8, 0.95), (0.1, 0.5)
_PREFERENCE = 5.0  # how much more likely a corrective person takes an arm that gains 1 more: e⁵
Recipe = Callable[[Draws, int], People]


def unconfounded(draws: Draws, n_arms: int) -> People:
    """One group: what a person gains depends on the arm taken alone."""
    rewards = draws.uniform(n_arms)[:, None, :]
    return People(np.ones((len(rewards), 1)), _behaviours(draws, 1, n_arms), rewards)


def confounded(draws: Draws, n_arms: int) -> People:
    """Groups that differ in everything, each drawn apart from the others."""
    shares, rewards = draws.shares(N_GROUPS), _rewards(draws, n_arms)
    return People(shares, _behaviours(draws, N_GROUPS, n_arms), rewards)


def mildly_confounded(draws: Draws, n_arms: int) -> People:
    """Groups that differ in prognosis and behaviour; each arm does the same to all of them."""
    shares, prognosis = draws.shares(N_GROUPS), draws.uniform(N_GROUPS, *PROGNOSIS)
    rewards = prognosis[:, :, None] + draws.uniform(n_arms, -EFFECT, EFFECT)[:, None, :]
    return People(shares, _behaviours(draws, N_GROUPS, n_arms), rewards)


def corrective(draws: Draws, n_arms: int) -> People:
    """As confounded, but whoever does not comply tends to take the arm that is best for the group."""
    shares, rewards = draws.shares(N_GROUPS), _rewards(draws, n_arms)
    preference = np.exp(_PREFERENCE * rewards)
    likes = preference / preference.sum(axis=2, keepdims=True)
    return People(shares, _behaviours(draws, N_GROUPS, n_arms, likes=likes), rewards)


def weak_compliance(draws: Draws, n_arms: int) -> People:
    """As confounded, with 10 to 30% compliers in each group."""
    shares, rewards = draws.shares(N_GROUPS), _rewards(draws, n_arms)
    return People(shares, _behaviours(draws, N_GROUPS, n_arms, comply=WEAK), rewards)


def strong_compliance(draws: Draws, n_arms: int) -> People:
    """As confounded, with 80 to 95% compliers in each group."""
    shares, rewards = draws.shares(N_GROUPS), _rewards(draws, n_arms)
    return People(shares, _behaviours(draws, N_GROUPS, n_arms, comply=STRONG), rewards)


def defiers(draws: Draws, n_arms: int) -> People:
    """As confounded, with 10 to 50% defiers in each group."""
    shares, rewards = draws.shares(N_GROUPS), _rewards(draws, n_arms)
    defy = draws.uniform(N_GROUPS, *DEFYING)[:, :, None]
    behaviours = _behaviours(draws, N_GROUPS, n_arms) * (1 - defy)
    behaviours[:, :, -1:] = defy
    return People(shares, behaviours, rewards)


def uniform_other(draws: Draws, n_arms: int) -> People:
    """The population `uniform-other`: both rewards and both compliances uniform; non-compliers take the other arm."""
    rewards = draws.uniform(2)[:, None, :]
    follows_first, follows_second = draws.uniform(2).T
    behaviours = [
        follows_first * follows_second,
        follows_first * (1 - follows_second),
        (1 - follows_first) * follows_second,
        (1 - follows_first) * (1 - follows_second),
    ]
    return People(np.ones((len(rewards), 1)), np.stack(behaviours, axis=1)[:, None, :], rewards)


def _rewards(draws: Draws, n_arms: int) -> Floats:
    """Every group's reward of every arm, uniform on [0, 1]."""
    return draws.uniform(N_GROUPS * n_arms).reshape(-1, N_GROUPS, n_arms)


def _behaviours(
    draws: Draws,
    n_groups: int,
    n_arms: int,
    comply: tuple[float, float] = (0.0, 1.0),
    likes: Floats | None = None,
) -> Floats:
    """Compliers, uniform between two shares; the rest take what they like, at random where that is left open."""
    compliers = draws.uniform(n_groups, *comply)
    if likes is None:
        likes = np.stack([draws.shares(n_arms) for _ in range(n_groups)], axis=1)
    behaviours = np.zeros((*compliers.shape, n_behaviours(n_arms)))
    behaviours[:, :, 0] = compliers
    behaviours[:, :, 1 : n_arms + 1] = (1 - compliers)[:, :, None] * likes
    return behaviours
