"""HierarchicalBandit: a bandit over bandits (Algorithm 1 of the paper)."""

from __future__ import annotations

from typing import Any

from adhere.compilation import Memo, State, guessed, implements, view
from adhere.policies.base.declaration import policy
from adhere.policies.base.generic import (
    Floats,
    Rule,
    choose,
    decider,
    learn,
    probabilities,
    remember,
    remember_shares,
    update,
)
from adhere.policies.hybrids.experts import (
    choose_nth,
    probabilities_nth,
    recycle_nth,
    remember_nth,
    remember_shares_nth,
    update_nth,
    weight_of,
)
from adhere.policies.hybrids.hierarchical_parameters import NO_EXPERT, HierarchicalParameters, HierarchicalRule, is_in
from adhere.randomness import Stream, draw_ahead


@policy("hierarchical", rule=HierarchicalRule)
class HierarchicalBandit(HierarchicalParameters):
    """A top bandit draws one of several experts; the expert draws the arm.

    The top learns from every round which expert was drawn. An expert under Chosen is *certified*: it learns only from
    rounds it was drawn for, weighted by 1/p where p is the probability of being drawn. The other experts learn from
    every round.

    Parameters
    ----------
    base
        The learner that is run under Chosen, Actual and Comply.
    top
        The learner that draws the expert.
    experts
        Any learners under any protocols, instead of a base.
    recycle
        Whether certified experts also learn from rounds they were not drawn for: each picks an arm of its own and is
        told one of the outcomes kept for that arm, once every arm has one. Its weight is then 1.

    Notes
    -----
    A certified Thompson becomes `base-thompson`; ε-greedy and UCB1 have no weights.

    References
    ----------
    Della Penna, Reid & Balduzzi (2016), Algorithm 1 and section 3.3.

    Examples
    --------
    >>> from adhere import Exp3, simulate
    >>> str(HierarchicalBandit(Exp3(), recycle=True))
    'hierarchical(exp3, recycle=true)'
    >>> result = simulate("hierarchical(epsilon-greedy)", "defiers", n_patients=100, n_runs=20, progress=False)
    >>> sorted(result[0].experts)
    ['epsilon-greedy', 'epsilon-greedy/actual', 'epsilon-greedy/comply']

    """


@implements(remember, HierarchicalBandit)
def remember_hierarchical(rule: Rule, state: State, memo: Memo) -> None:
    """No expert is drawn yet; every part keeps what it must."""
    memo.drawn = NO_EXPERT
    remember(rule.top, state.top, memo.top)
    for i in range(len(rule.experts)):
        remember_nth(rule.experts, i, state.experts, memo.experts)


@implements(remember_shares, HierarchicalBandit)
def remember_shares_hierarchical(rule: Rule, state: State, memo: Memo, shares: Any, kept: float, rng: Stream) -> None:
    """The experts' arms are the trial's; the top's are the experts, which it draws as ever."""
    for i in range(len(rule.experts)):
        remember_shares_nth(rule.experts, i, state.experts, memo.experts, shares, kept, rng)


@implements(choose, HierarchicalBandit)
def choose_hierarchical(rule: Rule, state: State, memo: Memo, weight: float, rng: Stream) -> int:
    """Draw an expert from the top and an arm from the expert."""
    drawn = guessed(choose(rule.top, state.top, memo.top, 1.0, rng))
    memo.drawn, memo.weight = drawn, 1.0
    if is_in(rule.certified, drawn):
        memo.weight = weight_of(rule.weighting, rule, state, memo, drawn, rng)
    draw_ahead(rng)
    return choose_nth(rule.experts, drawn, state.experts, memo.experts, memo.weight, rng)  # type: ignore[no-any-return]


@implements(update, HierarchicalBandit)
def update_hierarchical(
    rule: Rule, state: State, memo: Memo, chosen: int, feedback: int, reward: float, weight: float, rng: Stream
) -> None:
    """The top learns of the expert drawn; certified experts of their own rounds, the others of all.

    Where somebody outside the hierarchy decided, all experts learn, with weight 1, and the top does not.
    """
    drawn, reward_is_new = memo.drawn, feedback <= rule.n_arms
    if drawn != NO_EXPERT and reward_is_new:
        learn(rule.top, state.top, memo.top, drawn, reward, 1.0, rng)
    for i in range(len(rule.experts)):
        certified = is_in(rule.certified, i)
        if not certified or i == drawn or drawn == NO_EXPERT:
            own_weight = memo.weight if certified and i == drawn else 1.0
            update_nth(rule.experts, i, state.experts, memo.experts, chosen, feedback, reward, own_weight, rng)
        elif reward_is_new:
            recycle_nth(rule.cache, rule, i, state, memo, chosen, reward, rng)


@implements(probabilities, HierarchicalBandit)
def probabilities_hierarchical(rule: Rule, state: State, memo: Memo, weight: float, out: Floats, rng: Stream) -> None:
    """The experts' probabilities, mixed by the top's."""
    of_top, of_expert = memo.top_probabilities, view(out, rule.n_arms)
    probabilities(rule.top, state.top, memo.top, 1.0, of_top, rng)
    for arm in range(rule.n_arms):
        out[arm] = 0.0
    for i in range(len(rule.experts)):
        if of_top[i] > 0.0:
            is_weighted = rule.weighting.by_probability and is_in(rule.certified, i)
            own_weight = 1.0 / of_top[i] if is_weighted else 1.0
            probabilities_nth(rule.experts, i, state.experts, memo.experts, own_weight, of_expert, rng)
            for arm in range(rule.n_arms):
                out[arm] += of_top[i] * of_expert[arm]


@implements(decider, HierarchicalBandit)
def decider_hierarchical(rule: Rule, memo: Memo) -> int:
    """The expert drawn."""
    return memo.drawn  # type: ignore[no-any-return]
