"""`simulate` for every policy of the battery on five populations."""

from __future__ import annotations

from typing import Any

from adhere import simulate
from adhere.intervals import Z95
from adhere.populations import ComplianceType, ComplianceTypes, Population, homogeneous, uniform_corrective
from adhere.simulation.measures.measure import MEASURES, SHARES
from adhere.simulation.results.outcome import QUANTILES
from contract.policies_under_test import is_compiled, variants
from contract.populations_under_test import graded_rewards, mixed

from .digests import fingerprint

N_PATIENTS, N_RUNS, SEED = 70, 9, 4


def three_arm_types() -> ComplianceTypes:
    """Three arms, and one draw for a whole patient."""
    types = [
        ComplianceType("compliers", 0.5, (0, 1, 2), (0.3, 0.5, 0.6)),
        ComplianceType("never-takers", 0.3, (0, 0, 0), (0.7, None, None)),
        ComplianceType("rotating", 0.2, (1, 2, 0), (0.2, 0.4, 0.9)),
    ]
    return ComplianceTypes("three-arm-strata", ("none", "low", "high"), types)


def populations_for(subject: str) -> list[Population]:
    """Two and three arms, made of counts and of compliance types, and one drawn afresh for each run.

    Their compiled code is that of the tests of the contract.
    """
    rewards = graded_rewards(subject)
    every = [mixed(2, rewards), mixed(3, rewards), homogeneous(), three_arm_types(), uniform_corrective()]
    return [one for one in every if is_compiled(subject, one.n_arms) and variants(subject, one.n_arms)]


def names(subject: str) -> list[str]:
    """What the golden calls the simulations of a composition."""
    populations = populations_for(subject)
    return [_name(text, one) for one in populations for text in variants(subject, one.n_arms)]


def simulated(subject: str, n_arms: int) -> dict[str, Any]:
    """For each policy of a composition and each population: a fingerprint of all that was found, and some of it."""
    entries = {}
    for population in (one for one in populations_for(subject) if one.n_arms == n_arms):
        policies = variants(subject, population.n_arms)
        result = simulate(policies, population, N_PATIENTS, N_RUNS, SEED, progress=False)
        for text, found, outcome in zip(policies, result.to_json(), result.outcomes, strict=True):
            trajectories = [outcome.trajectory(difference=difference).mean.tolist() for difference in (False, True)]
            entries[_name(text, population)] = {
                "surplus": found["surplus"]["mean"],
                "reward": found["reward"]["mean"],
                "all": fingerprint(_as_first_written(found)),
                "trajectories": fingerprint(trajectories),
            }
    return entries


def _name(policy: str, population: Population) -> str:
    return f"{policy} on {population.name}({population.n_arms})"


def _as_first_written(found: dict[str, Any]) -> dict[str, Any]:
    """The seed as a number, shares of runs with the intervals of other means, the names of then and none since."""
    shares = {name: found[name] for name in SHARES}
    for name, one in shares.items():
        shares[name] = one | {"low": one["mean"] - Z95 * one["se"], "high": one["mean"] + Z95 * one["se"]}
    written = {**found, **shares, "seed": int(found["seed"])}
    for later in ("arm_order", "best_arm", "best_arm_surplus"):
        del written[later]
    written["quantiles"] = {str(q / 100): written.pop(f"surplus_q{q:02}") for q in QUANTILES}
    written["difference"] = {name: _ends_renamed(written.pop(f"{name}_difference")) for name in MEASURES}
    return {name: _ends_renamed(one) if name in (*MEASURES, *SHARES) else one for name, one in written.items()}


def _ends_renamed(estimate: dict[str, Any]) -> dict[str, Any]:
    return {{"low": "lo", "high": "hi"}.get(name, name): value for name, value in estimate.items()}
