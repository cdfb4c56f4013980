"""Explore a setting: the truth, what each protocol believes, and simulated results of some policies."""

from adhere.exploration.policies import TITLES
from adhere.exploration.presets import Settings, population_of
from adhere.exploration.protocol_beliefs import PROTOCOLS, belief_of, truth_of
from adhere.exploration.results import Exploration
from adhere.exploration.sentences import headline, with_sentences
from adhere.intervals import Estimate
from adhere.simulation import simulate
from adhere.simulation.results.outcome import Outcome
from adhere_client.responses.simulations import ExploredCurve, ExploredInterval, ExploredPolicy

_POINTS = 50


def explore(settings: Settings) -> Exploration:
    """Compute the truth and the beliefs exactly, and simulate the policies.

    >>> explore(Settings(n_runs=20, n_patients=50)).sentence[:37]
    'Actual is fooled and prefers the trea'
    """
    result = simulate(
        settings.policies,
        population_of(settings.groups),
        settings.n_patients,
        settings.n_runs,
        settings.seed,
        grid=min(_POINTS, settings.n_patients),
        n_threads=1,
        progress=False,
    )
    truth = truth_of(settings.groups)
    beliefs = [belief_of(settings.groups, protocol) for protocol in PROTOCOLS]
    return Exploration(
        settings,
        headline(settings.groups, truth, beliefs),
        truth,
        with_sentences(settings.groups, truth, beliefs),
        list(result.config.grid),
        [_outcome(one) for one in result],
    )


def _outcome(one: Outcome) -> ExploredPolicy:
    return ExploredPolicy(
        one.policy,
        TITLES[one.policy],
        _interval(one.surplus),
        _interval(one.regret),
        _interval(one.allocation[one.arms[1]]),
        _interval(one.worse_than_randomisation),
        one.quantile(0.05),
        _curve(one, "surplus"),
        _curve(one, "regret"),
    )


def _interval(one: Estimate) -> ExploredInterval:
    return ExploredInterval(one.mean, one.low, one.high)


def _curve(one: Outcome, measure: str) -> ExploredCurve:
    along = one.trajectory(measure)
    if one.moments.n < 2:
        return ExploredCurve(along.mean.tolist(), None, None)
    return ExploredCurve(along.mean.tolist(), along.low.tolist(), along.high.tolist())
