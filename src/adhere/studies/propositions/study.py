"""Check Propositions 2 and 3: where Actual is best, where Comply is best, and the expectations in the proofs."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars

from adhere.intervals import Z95
from adhere.populations import ComplianceType, ComplianceTypes
from adhere.report.dots import dots
from adhere.report.numbers import columns_of, estimate_in_row, estimate_texts
from adhere.simulation import Estimate, SimulationResult
from adhere.studies.framework.study import Experiment, Study, Tables
from adhere.studies.framework.words import TYPES_HEADER, Cells, Charts, section_of, type_rows

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ARMS = ("control", "treatment")
PROTOCOLS = ("chosen", "actual", "comply")
LEARNERS = {"Thompson": "thompson", "UCB1": "ucb1", "ε-greedy": "epsilon-greedy"}
N_PATIENTS = 500


class Mixture(NamedTuple):
    """A mixture of never-takers, always-takers and compliers: their probabilities, and the rewards of the arms they
    take.
    """

    name: str
    p_n: float
    p_a: float
    p_c: float
    r_n0: float
    r_a1: float
    r_c0: float
    r_c1: float

    def population(self) -> ComplianceTypes:
        """Return the mixture as a population to draw patients from."""
        types = [
            ComplianceType("never-taker", self.p_n, reward=(self.r_n0, None)),
            ComplianceType("always-taker", self.p_a, reward=(None, self.r_a1)),
            ComplianceType("complier", self.p_c, reward=(self.r_c0, self.r_c1)),
        ]
        return ComplianceTypes(self.name, ARMS, types)

    def expected(self, q_0: float) -> dict[tuple[str, int], float]:
        """Return the expected rewards credited to each arm, by the formulas in the proof of Proposition 3."""
        _, p_n, p_a, p_c, r_n0, r_a1, r_c0, r_c1 = self
        q_1 = 1.0 - q_0
        return {
            ("chosen", 0): p_c * r_c0 + p_n * r_n0 + p_a * r_a1,
            ("chosen", 1): p_c * r_c1 + p_n * r_n0 + p_a * r_a1,
            ("actual", 0): (q_0 * p_c * r_c0 + p_n * r_n0) / (q_0 * p_c + p_n),
            ("actual", 1): (p_a * r_a1 + q_1 * p_c * r_c1) / (p_a + q_1 * p_c),
            ("comply", 0): (p_c * r_c0 + p_n * r_n0) / (p_c + p_n),
            ("comply", 1): (p_a * r_a1 + p_c * r_c1) / (p_a + p_c),
        }


class Alike(Mixture):
    """A mixture in which rewards depend on the treatment taken but not on who takes it."""

    __slots__ = ()

    def expected(self, q_0: float) -> dict[tuple[str, int], float]:
        """Return the expected rewards credited to each arm, by the formulas in the proof of Proposition 2."""
        _, p_n, p_a, _, r_0, r_1, _, _ = self
        return {
            ("chosen", 0): (1.0 - p_a) * r_0 + p_a * r_1,
            ("chosen", 1): p_n * r_0 + (1.0 - p_n) * r_1,
            **{(protocol, arm): reward for protocol in ("actual", "comply") for arm, reward in enumerate((r_0, r_1))},
        }


ALIKE = Alike("alike", 0.3, 0.25, 0.45, r_n0=0.3, r_a1=0.6, r_c0=0.3, r_c1=0.6)
# The proof of Proposition 3: never-takers are healthier than compliers, and always-takers less healthy.
UNLIKE = Mixture("unlike", 0.3, 0.25, 0.45, r_n0=0.7, r_a1=0.2, r_c0=0.3, r_c1=0.6)
# A milder case, in which Comply sees a wider gap than Chosen: compliers are few and gain much; the others differ
# little.
MILD = Mixture("mild", 0.45, 0.45, 0.1, r_n0=0.51, r_a1=0.49, r_c0=0.1, r_c1=0.9)
# The protocol that the proposition favours on each, with which the other protocols are compared.
FAVOURITES = {ALIKE: "actual", UNLIKE: "comply", MILD: "comply"}

# Each learner under the three protocols, compared on the same patients with the favoured protocol.
EXPERIMENTS = {
    f"{text}-{favourite}": Experiment(
        [f"{text}/{protocol}" for protocol in PROTOCOLS],
        [one.population() for one in FAVOURITES if FAVOURITES[one] == favourite],
        N_PATIENTS,
        n_runs=3000,
        reference=f"{text}/{favourite}",
        grid=[N_PATIENTS],
    )
    for text in LEARNERS.values()
    for favourite in ("actual", "comply")
}

N_DRAWN = 1_000_000  # patients for checking the expectations
CONTROL_SHARES = (0.5, 0.9)  # q_0 in the proof


def make_tables(results: Mapping[str, SimulationResult]) -> Tables:
    """Return the mixtures, the expected and simulated rewards, and the regret of each learner under each protocol."""
    config = next(iter(results.values())).config
    expectations = [
        row
        for number, one in enumerate(FAVOURITES)
        for q_0 in CONTROL_SHARES
        for row in _expectations(one, q_0, config.seed, run=config.n_runs + number)  # runs that no simulation used
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
    """Return each protocol's expected reward of each arm: by the proof, from the population, and as a mean over
    patients.

    Patients are independent of each other, so the arms can be chosen in turn.
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
    """Return the regret, and its difference from the reference's regret."""
    policy = LEARNERS[learner] if protocol == "chosen" else f"{LEARNERS[learner]}/{protocol}"
    outcome = result[population, policy]
    names = {"population": population, "learner": learner, "protocol": protocol, "policy": policy}
    run = {"n_runs": result.config.n_runs, "is_reference": policy == result.config.reference}
    return {**names, **run, **vars(outcome.regret), **columns_of(outcome.difference("regret"), "difference")}


FIRST = next(iter(LEARNERS))
_FAULT = 1e-12  # two ways to compute an expectation disagree by more than this


class Facts:
    """The tables, with the facts that more than one sentence needs."""

    def __init__(self, tables: Tables) -> None:
        self.expectations, self.regret = tables["expectations"], tables["regret"]
        self.mixtures = {row["name"]: row for row in tables["mixtures"].to_dicts()}
        self.n_runs = self.regret["n_runs"][0]
        rows = self.expectations.to_dicts()
        self.n_expectations = len(rows)
        fault = max(abs(row["formula"] - row["expected"]) for row in rows)
        self.formulas_hold = fault < _FAULT
        self.farthest = max(abs(row["mean"] - row["formula"]) / row["se"] for row in rows)
        # The largest of this many deviations exceeds the limit by chance alone in one study out of twenty.
        self.simulations_agree = self.farthest < NormalDist().inv_cdf(1 - 0.025 / len(rows))

    def gap(self, population: str, protocol: str) -> float:
        """Return how much better the treatment looks to a protocol if both arms are chosen equally often."""
        its = self.expectations.filter(population=population, protocol=protocol, control_share=CONTROL_SHARES[0])
        control, treatment = its["formula"].to_list()
        return float(treatment - control)

    def chain_holds(self, population: str) -> bool:
        """Return whether the proof's r_C0 ≤ E[R|c0,a0] ≤ E[R|a0] holds, and the opposite for the treatment."""
        compliers, holds = self.mixtures[population], True
        for q_0 in CONTROL_SHARES:
            its = self.expectations.filter(population=population, control_share=q_0)
            seen = {(row["protocol"], row["arm"]): row["formula"] for row in its.to_dicts()}
            holds &= compliers["r_c0"] <= seen["comply", "control"] <= seen["actual", "control"]
            holds &= compliers["r_c1"] >= seen["comply", "treatment"] >= seen["actual", "treatment"]
        return bool(holds)

    def n_beating(self, population: str, *protocols: str) -> int:
        """Return for how many learners the favourite surely has less regret than each of the given protocols."""
        its = self.regret.filter(population=population)
        sure = its.filter(its["protocol"].is_in(protocols), its["difference_low"] > 0.0)
        return sum(len(sure.filter(learner=learner)) == len(protocols) for learner in LEARNERS)

    def n_beaten(self, population: str, protocol: str) -> int:
        """Return for how many learners the favourite surely has more regret than the given protocol."""
        its = self.regret.filter(population=population, protocol=protocol)
        return len(its.filter(its["difference_high"] < 0.0))

    def n_comply_beats_chosen(self, population: str) -> int:
        """Return for how many learners Comply's interval of regret lies entirely below Chosen's."""
        its = self.regret.filter(population=population)
        comply, chosen = (its.filter(protocol=protocol) for protocol in ("comply", "chosen"))
        return int((comply["high"] < chosen["low"]).sum())

    def regrets(self, population: str, learner: str = FIRST) -> str:
        """Return the regret of a learner under each protocol, as text."""
        rows = self.regret.filter(population=population, learner=learner).to_dicts()
        texts = estimate_texts([Estimate(row["mean"], None, row["low"], row["high"]) for row in rows])
        return ", ".join(f"{row['protocol'].title()} {text}" for row, text in zip(rows, texts, strict=True))

    def chains(self) -> list[str]:
        """Return the populations for Proposition 3 on which the proof's inequalities hold."""
        return [name for name in self.mixtures if name != ALIKE.name and self.chain_holds(name)]

    def favourite(self, population: str) -> tuple[str, list[str]]:
        """Return the protocol that the proposition favours on a population, and the others."""
        best = next(best for one, best in FAVOURITES.items() if one.name == population)
        return best.title(), [protocol.title() for protocol in PROTOCOLS if protocol != best]

    def n_best(self, population: str) -> int:
        """Return for how many learners the favourite of a population beats both other protocols."""
        return self.n_beating(population, *(other.lower() for other in self.favourite(population)[1]))

    def beats_one(self, population: str) -> bool:
        """Return whether the favourite beats at least one other protocol with some learner."""
        return any(self.n_beating(population, other.lower()) for other in self.favourite(population)[1])


def charts(facts: Facts) -> Charts:
    """Return charts of regret by learner and protocol, and of the rewards that each protocol sees."""
    return {
        "propositions-regret": lambda: dots(
            _titled(facts.regret).with_columns(group="learner", style="protocol"),
            x_label=f"regret after {N_PATIENTS} patients (rewards lost)",
            zero="always the better arm",
        ),
        "propositions-expectations": lambda: _expectations_chart(facts.expectations),
    }


def _titled(table: polars.DataFrame) -> polars.DataFrame:
    """Return a table with capitalised protocols, ready for a chart with a panel per population."""
    protocol = polars.col("protocol").str.to_titlecase()
    return table.with_columns(protocol, row=protocol, panel="population")


def _expectations_chart(expectations: polars.DataFrame) -> Figure:
    """Draw each arm twice, one below the other: as simulated, and by the formula, which has no interval."""
    nothing = polars.lit(None, polars.Float64)
    simulated = _titled(expectations.filter(control_share=CONTROL_SHARES[0]))
    kinds = {"simulated": simulated, "by formula": simulated.with_columns(mean="formula", low=nothing, high=nothing)}
    parts = [
        rows.filter(arm=arm).with_columns(style=polars.lit(f"{arm}, {kind}"))
        for arm in ARMS
        for kind, rows in kinds.items()
    ]
    return dots(polars.concat(parts), x_label="mean reward credited to the arm", zero="")


def cells(facts: Facts) -> Cells:
    """Return tables of the populations, and of every figure in both charts."""
    named = ("population", "learner", "protocol")
    regret = [
        [*(row[name] for name in named), *_regrets(row), row["policy"]] for row in _titled(facts.regret).to_dicts()
    ]
    expectations = [
        [
            *(row["population"], f"{row['control_share']:.1f}", row["protocol"], row["arm"]),
            *(f"{row[name]:.4f}" for name in ("formula", "expected")),
            f"{row['mean']:.4f} [{row['low']:.4f}, {row['high']:.4f}]",
        ]
        for row in _titled(facts.expectations).to_dicts()
    ]
    header = ("population", "q₀", "protocol", "arm", "formula", "population's", "seen")
    people = [Mixture(**one).population() for one in facts.mixtures.values()]
    types = [(who.name, one.name, (one.probability, *one.reward)) for who in people for one in who.types]
    return {
        "types": (TYPES_HEADER, type_rows(types)),
        "regret": ((*named, "regret", "difference", "policy"), regret),
        "expectations": (header, expectations),
    }


def _regrets(row: Mapping[str, Any]) -> list[str]:
    regret = estimate_texts([Estimate(row["mean"], None, row["low"], row["high"])])
    return regret + (
        ["reference"] if row["is_reference"] else estimate_texts([estimate_in_row(row, "difference")], "+")
    )


STUDY = Study(
    "propositions",
    "Propositions 2 and 3",
    EXPERIMENTS,
    make_tables,
    section_of(__name__, Facts, charts, cells),
)
