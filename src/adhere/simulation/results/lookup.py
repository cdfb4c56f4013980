"""Which of a simulation's outcomes a user means."""

from __future__ import annotations

from collections.abc import Sequence

from adhere.checks import is_integer
from adhere.errors import InputError, nearest
from adhere.policies import Policy, parse_policy
from adhere.populations import Population
from adhere.simulation.results.outcome import Outcome


def find_outcome(outcomes: Sequence[Outcome], key: object) -> Outcome:
    """The outcome at a place, or of a (population, policy): values, any texts that mean them, the policy's place."""
    if is_integer(key):
        return _at(outcomes, key)
    if not isinstance(key, tuple) or len(key) != 2:
        raise InputError("outcome", key, "a number or a pair: result[population, policy]")
    wanted, policy = key
    population = wanted.name if isinstance(wanted, Population) else str(wanted)
    alike = [one for one in outcomes if one.population == population]
    alike = alike or [one for one in outcomes if one.population == population.strip().lower()]
    if not alike:
        known = dict.fromkeys(one.population for one in outcomes)
        raise InputError("population", population, nearest(population, known))
    if is_integer(policy):
        return _at(alike, policy)
    texts = (str(policy), _canonical(policy))
    for one in alike:
        if one.policy in texts or one.resolved in texts:
            return one
    raise InputError("policy", str(policy), nearest(str(policy), [one.policy for one in alike]))


def _at(outcomes: Sequence[Outcome], place: int) -> Outcome:
    if not -len(outcomes) <= place < len(outcomes):
        raise IndexError(f"outcome: got {place}, expected a place from 0 to {len(outcomes) - 1}")
    return outcomes[place]


def _canonical(policy: object) -> str:
    """The text that a policy is known by; a name that is no policy's, as that of a plain object, is left as it is."""
    try:
        return str(policy if isinstance(policy, Policy) else parse_policy(str(policy)))
    except InputError:
        return str(policy)
