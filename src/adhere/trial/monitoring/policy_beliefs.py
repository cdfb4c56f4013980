"""Read the beliefs of a policy from its state: posteriors, weights of experts, and odds of mediation.

Each policy of adhere with such beliefs is registered here. Other policies have no entry.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import singledispatch
from itertools import groupby
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from adhere.compilation import memo_of, state_of, strip
from adhere.policies import (
    BaseThompson,
    Exp3,
    HierarchicalBandit,
    HierarchicalExp3,
    MediatedThompson,
    Thompson,
    ThompsonBounded,
)
from adhere.policies.base.generic import probabilities, remember
from adhere.policies.base.policy import probabilities_size
from adhere.policies.guards.guard import Guard
from adhere.policies.hybrids.experts import is_in
from adhere.policies.learners.base_thompson import BaseThompsonState
from adhere.policies.numerics.mediated_posterior import PRIOR, odds_of_confounded
from adhere.trial.domain.state import TrialState
from adhere_client.responses.monitor import OddsOfMediation, Posterior, Weights


def belief_words(found: Iterable[Belief]) -> Iterator[str]:
    """Yield the beliefs of each part of a policy as lines of text.

    >>> from adhere_client.responses.monitor import Weights
    >>> list(belief_words([Weights("exp3", "arms", {"walk": 0.25, "aspirin": 0.75})]))
    ['exp3: weights of its arms: walk 0.250, aspirin 0.750']
    """
    for part, group in groupby(found, key=lambda one: one.part):
        posteriors = []
        for one in group:
            if isinstance(one, Posterior):
                posteriors.append(one)
            elif isinstance(one, OddsOfMediation):
                yield f"{part}: probability {one.probability:.3f} that outcomes depend only on the arm taken"
            else:
                weights = ", ".join(f"{name} {weight:.3f}" for name, weight in one.weights.items())
                yield f"{part}: weights of its {one.of}: {weights}"
        if posteriors:
            means = ", ".join(f"{one.arm} {one.mean:.3f} ({one.low:.3f} to {one.high:.3f})" for one in posteriors)
            yield f"{part}: mean outcome with 95% interval, by the arm {posteriors[0].of}: {means}"


Belief: TypeAlias = Posterior | Weights | OddsOfMediation
_ENDS = (0.025, 0.975)
_OF: Mapping[str, str] = {"chosen": "assigned", "actual": "taken", "comply": "assigned and taken"}


class Inside(NamedTuple):
    """The compiled form of a policy, with its state and memo, and the trial's arms. `weight` is the inverse of a
    certified expert's weight in its hybrid, and 1 for other policies.
    """

    rule: Any
    state: Any
    memo: Any
    rng: Any
    arms: Sequence[str]
    weight: float = 1.0


def beliefs_in(state: TrialState) -> list[Belief]:
    """Return the beliefs of a trial's policy, and load the policy if necessary."""
    engine = state.engine
    inside = Inside(*engine.inside(state.policy_state, state.n_recommendations), state.design.arms)
    return list(beliefs(engine.policy, inside))


@singledispatch
def beliefs(policy: object, inside: Inside) -> Iterator[Belief]:
    """Yield the beliefs of a policy. Yield nothing if its state is unknown."""
    return iter(())


@beliefs.register
def _(policy: Guard, inside: Inside) -> Iterator[Belief]:
    rule, state, memo = inside.rule.inner, inside.state.inner, inside.memo.inner
    return beliefs(policy.inner, inside._replace(rule=rule, state=state, memo=memo))


@beliefs.register
def _(policy: Thompson, inside: Inside) -> Iterator[Belief]:
    prior = inside.weight if isinstance(inside.state, BaseThompsonState) else 0.0  # the prior of a certified expert
    a, b = inside.state.successes + prior, inside.state.failures + prior
    return _posteriors(str(policy), _OF.get(str(policy.protocol), "credited"), inside.arms, a, b)


@beliefs.register
def _(policy: BaseThompson, inside: Inside) -> Iterator[Belief]:
    return beliefs(Thompson(protocol=policy.protocol), inside)


@beliefs.register
def _(policy: MediatedThompson, inside: Inside) -> Iterator[Belief]:
    state, n_arms, part = inside.state, len(inside.arms), str(policy)
    odds = odds_of_confounded(inside.rule, state)
    log_odds = -math.log(odds) if odds > 0.0 else None
    yield OddsOfMediation(part, log_odds, 1.0 / (1.0 + odds))
    successes, failures = (np.array(counts[:, :n_arms]) for counts in (state.successes, state.failures))
    taken = PRIOR + successes.sum(axis=0), PRIOR + failures.sum(axis=0)
    yield from _posteriors(f"{part}, if mediated", "taken", inside.arms, *taken)
    chosen = PRIOR + state.chosen_successes, PRIOR + state.chosen_failures
    yield from _posteriors(f"{part}, if confounded", "assigned", inside.arms, *chosen)


@beliefs.register
def _(policy: Exp3, inside: Inside) -> Iterator[Belief]:
    yield Weights(str(policy), "arms", _shares(inside.arms, inside.state.log_weights))


@beliefs.register
def _(policy: HierarchicalBandit, inside: Inside) -> Iterator[Belief]:
    rule, state, memo = inside.rule, inside.state, inside.memo
    experts = policy.all_experts()
    n, out = len(experts), np.zeros(probabilities_size(len(experts)))
    remember(rule.top, state.top, memo.top)
    probabilities(rule.top, state.top, memo.top, 1.0, out, inside.rng)
    weights = out[:n].tolist()
    yield Weights(str(policy), "experts", dict(zip(map(str, experts), weights, strict=True)))
    for i, expert in enumerate(experts):
        own = rule.experts[i]
        is_weighted = rule.weighting.by_probability and is_in(rule.certified, i) and weights[i] > 0.0
        yield from beliefs(
            expert,
            inside._replace(
                rule=own,
                state=state_of(own, strip(state.experts, i, n)),
                memo=memo_of(own, strip(memo.experts, i, n)),
                weight=1.0 / weights[i] if is_weighted else 1.0,
            ),
        )


@beliefs.register
def _(policy: HierarchicalExp3, inside: Inside) -> Iterator[Belief]:
    names = [str(expert) for expert in policy.learners()]
    yield Weights(str(policy), "experts", _shares(names, inside.state.log_v))


@beliefs.register
def _(policy: ThompsonBounded, inside: Inside) -> Iterator[Belief]:
    rule, state, memo = inside.rule, inside.state, inside.memo
    sampler = inside._replace(rule=rule.sampler, state=state.sampler, memo=memo.sampler)
    yield from beliefs(Thompson(), sampler)
    yield from beliefs(policy.inner, inside._replace(rule=rule.inner, state=state.inner, memo=memo.inner))


def _posteriors(part: str, of: str, arms: Sequence[str], a: Any, b: Any) -> Iterator[Posterior]:
    from scipy.special import betaincinv  # part of the analysis extra

    for arm, alpha, beta in zip(arms, a.tolist(), b.tolist(), strict=True):
        low, high = betaincinv(alpha, beta, _ENDS).tolist()
        yield Posterior(part, of, arm, alpha, beta, alpha / (alpha + beta), low, high)


def _shares(names: Sequence[str], log_weights: Any) -> dict[str, float]:
    weights = np.exp(log_weights - np.max(log_weights))
    return dict(zip(names, (weights / weights.sum()).tolist(), strict=True))
