"""Propositions 2 and 3: where Actual is best, and where Comply is."""

from __future__ import annotations

import numpy as np
import pytest

from adhere import ComplianceType, ComplianceTypes, simulate

from .estimates import z_of


def mixture(
    p: tuple[float, float, float], never: float, always: float, complier: tuple[float, float], name: str
) -> ComplianceTypes:
    """Never-takers, always-takers and compliers, with r_{N,0}, r_{A,1} and (r_{C,0}, r_{C,1})."""
    return ComplianceTypes(
        name,
        ("control", "treatment"),
        [
            ComplianceType("never-taker", p[0], reward=(never, None)),
            ComplianceType("always-taker", p[1], reward=(None, always)),
            ComplianceType("complier", p[2], reward=complier),
        ],
    )


P_N, P_A, P_C = 0.3, 0.25, 0.45
R0, R1 = 0.3, 0.6
# Proposition 2: rewards depend on the treatment taken, not on who takes it.
ALIKE = mixture((P_N, P_A, P_C), never=R0, always=R1, complier=(R0, R1), name="alike")
# Proposition 3: never-takers are healthier than compliers, always-takers less healthy.
R_N0, R_A1, R_C0, R_C1 = 0.7, 0.2, 0.3, 0.6
UNLIKE = mixture((P_N, P_A, P_C), never=R_N0, always=R_A1, complier=(R_C0, R_C1), name="unlike")
ALLOCATIONS = [(0.5, 0.5), (0.9, 0.1), (0.2, 0.8)]


@pytest.mark.parametrize("q", ALLOCATIONS)
def test_expectations_in_the_proof_of_proposition_2(q: tuple[float, float]) -> None:
    chosen = [(1 - P_A) * R0 + P_A * R1, P_N * R0 + (1 - P_N) * R1]
    np.testing.assert_allclose(ALIKE.mean_given_chosen(), chosen)
    np.testing.assert_allclose(ALIKE.mean_given_actual(q), [R0, R1])
    np.testing.assert_allclose(np.diag(ALIKE.mean_given_both(q)), [R0, R1])


@pytest.mark.parametrize("q", ALLOCATIONS)
def test_expectations_in_the_proof_of_proposition_3(q: tuple[float, float]) -> None:
    q0, q1 = q
    actual = [
        (q0 * P_C * R_C0 + P_N * R_N0) / (q0 * P_C + P_N),
        (P_A * R_A1 + q1 * P_C * R_C1) / (P_A + q1 * P_C),
    ]
    comply = [(P_C * R_C0 + P_N * R_N0) / (P_C + P_N), (P_A * R_A1 + P_C * R_C1) / (P_A + P_C)]
    np.testing.assert_allclose(UNLIKE.mean_given_actual(q), actual)
    np.testing.assert_allclose(np.diag(UNLIKE.mean_given_both(q)), comply)
    assert R_C0 <= comply[0] <= actual[0]
    assert R_C1 >= comply[1] >= actual[1]


def test_actual_is_best_where_all_respond_alike() -> None:
    """Proposition 2; Comply comes second, as it learns the same but more seldom, and Chosen last."""
    policies = ["thompson/comply", "thompson/actual", "thompson"]
    result = simulate(policies, ALIKE, n_patients=500, n_runs=1000, seed=1)
    actual, chosen = (result["alike", policy].difference("regret") for policy in policies[1:])
    assert z_of(actual) < -10
    assert z_of(chosen) > 10


def test_comply_beats_actual_where_who_takes_the_treatment_matters() -> None:
    """In the setting of the proof of Proposition 3, Actual is drawn to the control that only the healthy take."""
    result = simulate(["thompson/comply", "thompson/actual"], UNLIKE, n_patients=500, n_runs=1000, seed=2)
    assert z_of(result["unlike", "thompson/actual"].difference("regret")) > 10


def test_comply_can_be_best_of_all() -> None:
    """Proposition 3's claim.

    The health of the proof (r_{N,0} above both of the compliers' rewards, r_{A,1} below) makes the gap that
    Comply sees smaller than Chosen's, so it must be milder: here compliers are few and gain much, and
    never-takers are only a little healthier than always-takers.
    """
    mild = mixture((0.45, 0.45, 0.1), never=0.51, always=0.49, complier=(0.1, 0.9), name="mild")
    gaps = [np.diff(means)[0] for means in (mild.mean_given_chosen(), np.diag(mild.mean_given_both()))]
    assert gaps[1] > 1.5 * gaps[0]
    result = simulate(["thompson/comply", "thompson/actual", "thompson"], mild, n_patients=500, n_runs=3000, seed=3)
    for policy in ("thompson", "thompson/actual"):
        assert z_of(result["mild", policy].difference("regret")) > 5


@pytest.mark.parametrize("population", [ALIKE, UNLIKE], ids=["alike", "unlike"])
@pytest.mark.parametrize("protocol", ["chosen", "actual", "comply"])
def test_learners_see_the_means_of_their_protocol(population: ComplianceTypes, protocol: str) -> None:
    """A credit table and patients met by uniform allocation give the population's own expectations."""
    n = 200_000
    patients = population.patients(seed=4, run=0, n_patients=n)
    chosen = np.random.default_rng(5).integers(2, size=n)
    actual, reward = patients.actual[np.arange(n), chosen], patients.reward[np.arange(n), chosen]
    expected = {
        "chosen": population.mean_given_chosen(),
        "actual": population.mean_given_actual(),
        "comply": np.diag(population.mean_given_both()),
    }[protocol]
    for arm in (0, 1):
        credited = {"chosen": chosen, "actual": actual, "comply": np.where(chosen == actual, chosen, -1)}[protocol]
        seen = reward[credited == arm]
        assert abs(seen.mean() - expected[arm]) < 4 * seen.std() / np.sqrt(len(seen))
