"""How the populations of each family are drawn."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from adhere.populations.population import Floats
from adhere.studies.arena.draws import Draws
from adhere.studies.arena.people import People, n_behaviours

Range = tuple[float, float]
PROGNOSIS: Range = (0.2, 0.8)  # of the mildly confounded
EFFECT: Range = (-0.2, 0.2)
WEAK: Range = (0.1, 0.3)
STRONG: Range = (0.8, 0.95)
DEFYING: Range = (0.1, 0.5)
Recipe = Callable[[Draws, int], People]


def unconfounded(draws: Draws, n_arms: int) -> People:
    """What a person gains depends on the arm taken alone."""
    return People(_shares(draws, n_arms), _alike(draws.uniform(n_arms)))


def confounded(draws: Draws, n_arms: int) -> People:
    """Whoever behaves in another way gains otherwise, too."""
    return People(_shares(draws, n_arms), _rewards(draws, n_arms))


def mildly_confounded(draws: Draws, n_arms: int) -> People:
    """Each arm does the same to everybody, but whoever behaves in another way has another prognosis."""
    prognosis = draws.uniform(n_behaviours(n_arms), *PROGNOSIS)
    return People(_shares(draws, n_arms), prognosis[:, :, None] + draws.uniform(n_arms, *EFFECT)[:, None, :])


def corrective(draws: Draws, n_arms: int) -> People:
    """As confounded, but whoever always takes an arm gains most by it."""
    rewards = _rewards(draws, n_arms)
    for arm in range(n_arms):
        own = rewards[:, arm + 1]  # of those who always take it
        rows, best = np.arange(len(own)), own.argmax(axis=1)
        own[rows, best], own[:, arm] = own[:, arm].copy(), own.max(axis=1)
    return People(_shares(draws, n_arms), rewards)


def weak_compliance(draws: Draws, n_arms: int) -> People:
    """As confounded, with 10 to 30% compliers."""
    return People(_shares(draws, n_arms, comply=WEAK), _rewards(draws, n_arms))


def strong_compliance(draws: Draws, n_arms: int) -> People:
    """As confounded, with 80 to 95% compliers."""
    return People(_shares(draws, n_arms, comply=STRONG), _rewards(draws, n_arms))


def defiers(draws: Draws, n_arms: int) -> People:
    """As confounded, with 10 to 50% defiers."""
    return People(_shares(draws, n_arms, defy=DEFYING), _rewards(draws, n_arms))


def uniform_other(draws: Draws, n_arms: int) -> People:
    """The population `uniform-other`: both rewards and both compliances uniform; non-compliers take the other arm."""
    rewards = draws.uniform(n_arms)
    follows_first, follows_second = draws.uniform(2).T
    shares = [
        follows_first * follows_second,
        follows_first * (1 - follows_second),
        (1 - follows_first) * follows_second,
        (1 - follows_first) * (1 - follows_second),
    ]
    return People(np.stack(shares, axis=1), _alike(rewards))


def _alike(rewards: Floats) -> Floats:
    """The same rewards whatever the behaviour."""
    return np.repeat(rewards[:, None, :], n_behaviours(rewards.shape[1]), axis=1)


def _rewards(draws: Draws, n_arms: int) -> Floats:
    """The reward of every arm in every stratum, uniform on [0, 1]."""
    return draws.uniform(n_behaviours(n_arms) * n_arms).reshape(-1, n_behaviours(n_arms), n_arms)


def _shares(draws: Draws, n_arms: int, comply: Range = (0.0, 1.0), defy: Range = (0.0, 0.0)) -> Floats:
    """Defiers and, of the rest, compliers between two shares; the others divided at random over the arms."""
    defiers, compliers = draws.uniform(1, *defy), draws.uniform(1, *comply)
    others = (1 - compliers) * draws.shares(n_arms)
    return np.hstack([(1 - defiers) * np.hstack([compliers, others]), defiers])
