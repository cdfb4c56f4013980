"""The tables of Propositions 2 and 3, what the proofs expect and the regret of each learner, and what they say."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import NormalDist
from typing import Any

import numpy as np
import polars

from adhere.intervals import Z95
from adhere.report.numbers import columns_of, estimate_texts
from adhere.simulation import Estimate, SimulationResult
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
    rows: list[dict[str, Any]] = []
    for (protocol, arm), formula in mixture.expected(q_0).items():
        seen = reward[credited[protocol] == arm]
        mean, se = float(seen.mean()), float(seen.std(ddof=1) / np.sqrt(len(seen)))
        names = {"population": mixture.name, "control_share": q_0, "protocol": protocol, "arm": ARMS[arm]}
        expected = {"formula": formula, "expected": float(own[protocol][arm]), "patients": len(seen)}
        rows.append({**names, **expected, "mean": mean, "se": se, "low": mean - Z95 * se, "high": mean + Z95 * se})
    return rows


def _regret(result: SimulationResult, population: str, learner: str, protocol: str) -> dict[str, Any]:
    """Regret, and its difference from that of the reference."""
    policy = LEARNERS[learner] if protocol == "chosen" else f"{LEARNERS[learner]}/{protocol}"
    outcome = result[population, policy]
    names = {"population": population, "learner": learner, "protocol": protocol, "policy": policy}
    run = {"n_runs": result.config.n_runs, "is_reference": policy == result.config.reference}
    return {**names, **run, **vars(outcome.regret), **columns_of(outcome.difference("regret"), "difference")}


FIRST = next(iter(LEARNERS))
_FAULT = 1e-12  # beyond this, two ways to compute an expectation do not agree


class Facts:
    """The tables with the few facts that more than one sentence needs."""

    def __init__(self, tables: Tables) -> None:
        self.expectations, self.regret = tables["expectations"], tables["regret"]
        self.mixtures = {row["name"]: row for row in tables["mixtures"].to_dicts()}
        self.n_runs = self.regret["n_runs"][0]
        rows = self.expectations.to_dicts()
        self.n_expectations = len(rows)
        fault = max(abs(row["formula"] - row["expected"]) for row in rows)
        self.formulas_hold = fault < _FAULT
        self.farthest = max(abs(row["mean"] - row["formula"]) / row["se"] for row in rows)
        # One of this many is as far off, by chance alone, in one study out of twenty.
        self.simulations_agree = self.farthest < NormalDist().inv_cdf(1 - 0.025 / len(rows))

    def gap(self, population: str, protocol: str) -> float:
        """How much better the treatment looks to a protocol, the arms equally often chosen."""
        its = self.expectations.filter(population=population, protocol=protocol, control_share=CONTROL_SHARES[0])
        control, treatment = its["formula"].to_list()
        return float(treatment - control)

    def chain_holds(self, population: str) -> bool:
        """The proof's r_C0 ≤ E[R|c0,a0] ≤ E[R|a0], and the opposite for the treatment."""
        compliers, holds = self.mixtures[population], True
        for q_0 in CONTROL_SHARES:
            its = self.expectations.filter(population=population, control_share=q_0)
            seen = {(row["protocol"], row["arm"]): row["formula"] for row in its.to_dicts()}
            holds &= compliers["r_c0"] <= seen["comply", "control"] <= seen["actual", "control"]
            holds &= compliers["r_c1"] >= seen["comply", "treatment"] >= seen["actual", "treatment"]
        return bool(holds)

    def n_beating(self, population: str, *protocols: str) -> int:
        """With how many learners the favourite surely has less regret than all of these."""
        its = self.regret.filter(population=population)
        sure = its.filter(its["protocol"].is_in(protocols), its["difference_low"] > 0.0)
        return sum(len(sure.filter(learner=learner)) == len(protocols) for learner in LEARNERS)

    def n_beaten(self, population: str, protocol: str) -> int:
        """With how many learners it surely has more regret than this one."""
        its = self.regret.filter(population=population, protocol=protocol)
        return len(its.filter(its["difference_high"] < 0.0))

    def n_comply_beats_chosen(self, population: str) -> int:
        """With how many learners, where neither is the favourite: those whose intervals are apart."""
        its = self.regret.filter(population=population)
        comply, chosen = (its.filter(protocol=protocol) for protocol in ("comply", "chosen"))
        return int((comply["high"] < chosen["low"]).sum())

    def regrets(self, population: str, learner: str = FIRST) -> str:
        """The regret of a learner under each protocol."""
        rows = self.regret.filter(population=population, learner=learner).to_dicts()
        texts = estimate_texts([Estimate(row["mean"], None, row["low"], row["high"]) for row in rows])
        return ", ".join(f"{row['protocol'].title()} {text}" for row, text in zip(rows, texts, strict=True))
