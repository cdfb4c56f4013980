"""The populations and simulations of Propositions 2 and 3."""

from __future__ import annotations

from typing import NamedTuple

from adhere.populations import ComplianceType, ComplianceTypes
from adhere.studies.framework.study import Experiment

ARMS = ("control", "treatment")
PROTOCOLS = ("chosen", "actual", "comply")
LEARNERS = {"Thompson": "thompson", "UCB1": "ucb1", "ε-greedy": "epsilon-greedy"}
N_PATIENTS = 500


class Mixture(NamedTuple):
    """Never-takers, always-takers and compliers: their probabilities, and the rewards of the arms they take."""

    name: str
    p_n: float
    p_a: float
    p_c: float
    r_n0: float
    r_a1: float
    r_c0: float
    r_c1: float

    def population(self) -> ComplianceTypes:
        """The same as a population to draw patients from."""
        types = [
            ComplianceType("never-taker", self.p_n, reward=(self.r_n0, None)),
            ComplianceType("always-taker", self.p_a, reward=(None, self.r_a1)),
            ComplianceType("complier", self.p_c, reward=(self.r_c0, self.r_c1)),
        ]
        return ComplianceTypes(self.name, ARMS, types)

    def expected(self, q_0: float) -> dict[tuple[str, int], float]:
        """The rewards credited to each arm, in expectation, as the proof of Proposition 3 has them."""
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
    """A mixture in which rewards depend on the treatment taken and not on who takes it."""

    __slots__ = ()

    def expected(self, q_0: float) -> dict[tuple[str, int], float]:
        """The rewards credited to each arm, in expectation, as the proof of Proposition 2 has them."""
        _, p_n, p_a, _, r_0, r_1, _, _ = self
        return {
            ("chosen", 0): (1.0 - p_a) * r_0 + p_a * r_1,
            ("chosen", 1): p_n * r_0 + (1.0 - p_n) * r_1,
            **{(protocol, arm): reward for protocol in ("actual", "comply") for arm, reward in enumerate((r_0, r_1))},
        }


ALIKE = Alike("alike", 0.3, 0.25, 0.45, r_n0=0.3, r_a1=0.6, r_c0=0.3, r_c1=0.6)
# The proof of Proposition 3: never-takers are healthier than compliers, always-takers less healthy.
UNLIKE = Mixture("unlike", 0.3, 0.25, 0.45, r_n0=0.7, r_a1=0.2, r_c0=0.3, r_c1=0.6)
# Milder, so that Comply sees a wider gap than Chosen: compliers are few and gain much, the others differ little.
MILD = Mixture("mild", 0.45, 0.45, 0.1, r_n0=0.51, r_a1=0.49, r_c0=0.1, r_c1=0.9)
# The proposition's favourite on each, with which the other protocols are compared.
FAVOURITES = {ALIKE: "actual", UNLIKE: "comply", MILD: "comply"}

# Each learner under the three protocols, compared on the same patients with the proposition's favourite.
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
