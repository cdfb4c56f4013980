"""Policies said in words: each function gives a maker, called afresh for every run with (n_arms, horizon)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .bounding import ThompsonBounded
from .guarding import BurnIn, Floor
from .hexp3 import HierarchicalExp3
from .hierarchical_bandit import HierarchicalBandit
from .learners import EpsilonGreedy, Exp3, Learner, Thompson, Ucb1, Uniform, default_gamma
from .mediated import Aware, MediatedThompson
from .policy import Plain, Policy
from .protocols import ProtocolLike
from .top_two import TopTwoThompson

LearnerMaker = Callable[[int, int], Learner]
PolicyMaker = Callable[[int, int], Policy]


def uniform() -> LearnerMaker:
    return lambda n_arms, horizon: Uniform(n_arms)


def epsilon_greedy(epsilon: float | None = None) -> LearnerMaker:
    return lambda n_arms, horizon: EpsilonGreedy(n_arms, epsilon)


def ucb1() -> LearnerMaker:
    return lambda n_arms, horizon: Ucb1(n_arms)


def top_two_thompson(beta: float = 0.5) -> LearnerMaker:
    return lambda n_arms, horizon: TopTwoThompson(n_arms, beta)


def thompson() -> LearnerMaker:
    return lambda n_arms, horizon: Thompson(n_arms)


def exp3(gamma: float | None = None) -> LearnerMaker:
    return lambda n_arms, horizon: Exp3(n_arms, default_gamma(n_arms, horizon) if gamma is None else gamma)


def mediated_thompson(odds: float | None = None) -> PolicyMaker:
    return lambda n_arms, horizon: Aware(MediatedThompson(n_arms, odds))


def plain(learner: LearnerMaker, protocol: ProtocolLike = "chosen") -> PolicyMaker:
    return lambda n_arms, horizon: Plain(learner(n_arms, horizon), protocol)


def hierarchical_of(
    experts: Sequence[tuple[LearnerMaker, ProtocolLike]],
    top: LearnerMaker | None = None,
    recycle: bool = False,
) -> PolicyMaker:
    """HierarchicalBandit over any experts; the top is EXP3 unless told."""
    make_top = exp3() if top is None else top

    def make(n_arms: int, horizon: int) -> Policy:
        made = [(learner(n_arms, horizon), protocol) for learner, protocol in experts]
        return HierarchicalBandit(made, make_top(len(made), horizon), recycle)

    return make


def hierarchical(base: LearnerMaker, top: LearnerMaker | None = None, recycle: bool = False) -> PolicyMaker:
    """HierarchicalBandit as in Alg. 1: one base under Chosen, Actual and Comply."""
    return hierarchical_of([(base, "chosen"), (base, "actual"), (base, "comply")], top, recycle)


def thompson_bounded(inner: PolicyMaker, recycle: bool = False, literal: bool = False) -> PolicyMaker:
    return lambda n_arms, horizon: ThompsonBounded(inner(n_arms, horizon), recycle, literal)


def floor(inner: PolicyMaker, share: float, control: float | None = None, clips: bool = False) -> PolicyMaker:
    return lambda n_arms, horizon: Floor(inner(n_arms, horizon), share, control, clips)


def burn_in(inner: PolicyMaker, patients: int, block: int | None = None) -> PolicyMaker:
    return lambda n_arms, horizon: BurnIn(inner(n_arms, horizon), patients, block)


def hierarchical_exp3(eta: float, rho: float) -> PolicyMaker:
    return lambda n_arms, horizon: HierarchicalExp3(n_arms, eta, rho)
