"""The tables of Propositions 2 and 3: what the proofs expect, and the regret of each learner."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars

from adhere.intervals import Z95
from adhere.simulation import SimulationResult
from adhere.studies.framework.study import Tables
from adhere.studies.propositions.experiments import ARMS, FAVOURITES, LEARNERS, PROTOCOLS, Mixture

N_DRAWN = 1_000_000  # patients, to meet the expectations with
CONTROL_SHARES = (0.5, 0.9)  # the proof's q_0


def make_tables(results: Mapping[str, SimulationResult]) -> Tables:
    """The mixtures, what the proofs expect and what is seen, and the regret of each learner under each protocol."""
    config = next(iter(results.values())).config
    expectations = [
        row
        for number, one in enumerate(FAVOURITES)
        for q_0 in CONTROL_SHARES
        for row in _expectations(one, q_0, config.seed, run=config.n_runs + number)  # runs that no simulation had
    ]
    regret = [
        _regret(results[f"{LEARNERS[learner]}-{FAVOURITES[one]}"], one.name, learner, protocol)
        for one in FAVOURITES
        for learner in LEARNERS
        for protocol in PROTOCOLS
    ]
    return {
        "mixtures": polars.DataFrame([one._asdict() for one in FAVOURITES]),
        "expectations": polars.DataFrame(expectations),
        "regret": polars.DataFrame(regret),
    }


def _expectations(mixture: Mixture, q_0: float, seed: int, run: int) -> list[dict[str, Any]]:
    """Each protocol's expectation for each arm: the proof's, the population's own, and the mean over many patients.

    Patients come independently of each other, so it does no harm that arms are chosen in turn.
    """
    population, shares = mixture.population(), (q_0, 1.0 - q_0)
    own = {
        "chosen": population.mean_given_chosen(),
        "actual": population.mean_given_actual(shares),
        "comply": np.diag(population.mean_given_both(shares)),
    }
    patients, place = population.patients(seed, run, N_DRAWN), np.arange(N_DRAWN)
    chosen = (place % 10 >= round(10 * q_0)).astype(np.int64)
    actual, reward = patients.actual[place, chosen], patients.reward[place, chosen]
    credited = {"chosen": chosen, "actual": actual, "comply": np.where(chosen == actual, chosen, -1)}
    rows = []
    for (protocol, arm), formula in mixture.expected(q_0).items():
        seen = reward[credited[protocol] == arm]
        mean, se = float(seen.mean()), float(seen.std(ddof=1) / np.sqrt(len(seen)))
        names: dict[str, Any] = {
            "population": mixture.name,
            "control_share": q_0,
            "protocol": protocol,
            "arm": ARMS[arm],
        }
        expected = {"formula": formula, "expected": float(own[protocol][arm]), "patients": len(seen)}
        rows.append({**names, **expected, "mean": mean, "se": se, "lo": mean - Z95 * se, "hi": mean + Z95 * se})
    return rows


def _regret(result: SimulationResult, population: str, learner: str, protocol: str) -> dict[str, Any]:
    """Regret, and its difference from that of the reference."""
    policy = LEARNERS[learner] if protocol == "chosen" else f"{LEARNERS[learner]}/{protocol}"
    outcome = result[population, policy]
    difference = outcome.difference("regret")
    names = {
        "population": population,
        "learner": learner,
        "protocol": protocol,
        "policy": policy,
        "runs": result.config.n_runs,
        "is_reference": policy == result.config.reference,
    }
    paired = {"difference": difference.mean, "difference_lo": difference.lo, "difference_hi": difference.hi}
    return {**names, **vars(outcome.regret), **paired}
