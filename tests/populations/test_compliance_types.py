from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adhere.errors import InputError
from adhere.populations import ComplianceType, ComplianceTypes
from adhere.populations.compliance_types import ALWAYS_TAKER, COMPLIER, DEFIER, NEVER_TAKER

from .strategies import UNIT

ARMS = ("control", "treatment")


@settings(deadline=None)
@given(st.tuples(*[st.integers(1, 9)] * 3), UNIT, UNIT, st.integers(1, 9))
def test_proposition_2(weights: tuple[int, int, int], r0: float, r1: float, q: int) -> None:
    """Rewards that depend on the arm taken only, and no defiers: Actual sees r_0 and r_1 undiluted."""
    p_always, p_never, p_complier = (weight / sum(weights) for weight in weights)
    population = ComplianceTypes(
        "proposition 2",
        ARMS,
        [
            ComplianceType("always-taker", p_always, reward=(None, r1)),
            ComplianceType("never-taker", p_never, reward=(r0, None)),
            ComplianceType("complier", p_complier, reward=(r0, r1)),
        ],
    )
    np.testing.assert_allclose(
        population.mean_given_chosen(),
        [(1 - p_always) * r0 + p_always * r1, p_never * r0 + (1 - p_never) * r1],
        atol=1e-12,
    )
    np.testing.assert_allclose(population.mean_given_actual([q / 10, 1 - q / 10]), [r0, r1], atol=1e-12)


@settings(deadline=None)
@given(st.tuples(*[st.integers(1, 9)] * 3), st.tuples(UNIT, UNIT, UNIT, UNIT), st.integers(1, 9))
def test_proposition_3(
    weights: tuple[int, int, int], rewards: tuple[float, float, float, float], tenths: int
) -> None:
    """The expectations of Actual and Comply written out in the proof, for any allocation (q0, q1)."""
    p_always, p_never, p_complier = (weight / sum(weights) for weight in weights)
    r_never, r_always, r_0, r_1 = rewards
    q0, q1 = tenths / 10, 1 - tenths / 10
    population = ComplianceTypes(
        "proposition 3",
        ARMS,
        [
            ComplianceType("healthy", p_never, NEVER_TAKER, (r_never, None)),
            ComplianceType("ill", p_always, ALWAYS_TAKER, (None, r_always)),
            ComplianceType("complier", p_complier, COMPLIER, (r_0, r_1)),
        ],
    )
    actual = [
        (q0 * p_complier * r_0 + p_never * r_never) / (q0 * p_complier + p_never),
        (p_always * r_always + q1 * p_complier * r_1) / (p_always + q1 * p_complier),
    ]
    comply = [
        (p_complier * r_0 + p_never * r_never) / (p_complier + p_never),
        (p_always * r_always + p_complier * r_1) / (p_always + p_complier),
    ]
    np.testing.assert_allclose(population.mean_given_actual([q0, q1]), actual, atol=1e-12)
    np.testing.assert_allclose(np.diag(population.mean_given_both([q0, q1])), comply, atol=1e-12)


def test_the_proof_of_proposition_3_orders_the_protocols() -> None:
    population = ComplianceTypes(
        "healthy never-takers, ill always-takers",
        ARMS,
        [
            ComplianceType("never-taker", 0.25, reward=(0.9, None)),
            ComplianceType("always-taker", 0.25, reward=(None, 0.1)),
            ComplianceType("complier", 0.5, reward=(0.4, 0.6)),
        ],
    )
    comply, actual = np.diag(population.mean_given_both()), population.mean_given_actual()
    np.testing.assert_allclose(comply, [(0.2 + 0.225) / 0.75, (0.025 + 0.3) / 0.75])
    np.testing.assert_allclose(actual, [(0.1 + 0.225) / 0.5, (0.025 + 0.15) / 0.5])
    assert 0.4 < comply[0] < actual[0]
    assert 0.6 > comply[1] > actual[1]


def test_a_patient_who_ignores_advice_gains_the_same_whatever_is_chosen() -> None:
    population = ComplianceTypes(
        "mixed",
        ARMS,
        [
            ComplianceType("never-taker", 0.3, reward=(0.5, None)),
            ComplianceType("always-taker", 0.3, reward=(None, 0.4)),
            ComplianceType("complier", 0.4, reward=(0.3, 0.7)),
        ],
    )
    patients = population.patients(0, 0, 5000)
    ignores = patients.actual[:, 0] == patients.actual[:, 1]
    np.testing.assert_array_equal(patients.reward[ignores, 0], patients.reward[ignores, 1])
    # A complier's two potential rewards are independent: 0.3 · 0.7 of them gain either way.
    compliers = patients.reward[~ignores]
    share = (compliers.sum(axis=1) == 2).mean()
    assert abs(share - 0.21) < 4.5 * np.sqrt(0.21 * 0.79 / len(compliers))
    assert 0.35 < (~ignores).mean() < 0.45


def test_types_are_enumerated_up_to_1024() -> None:
    def compliers(k: int) -> ComplianceTypes:
        arms = tuple(f"arm {arm}" for arm in range(k))
        means = tuple((arm + 1) / (k + 1) for arm in range(k))
        return ComplianceTypes("compliers", arms, [ComplianceType("comply", 1.0, tuple(range(k)), means)])

    ten, eleven = compliers(10), compliers(11)
    assert ten.tables(0, 0, 1).cumulative.shape == (1, 1, 1024)
    assert eleven.tables(0, 0, 1).cumulative.shape == (1, 11, 2)  # each arm has two cells that anyone is in
    for population in (ten, eleven):
        k, n = population.n_arms, 20_000
        np.testing.assert_allclose(population.mean_given_chosen(), np.arange(1, k + 1) / (k + 1))
        np.testing.assert_array_equal(population.compliance(), np.eye(k))
        patients = population.patients(0, 0, n)
        np.testing.assert_array_equal(patients.actual, np.tile(np.arange(k), (n, 1)))
        error = np.abs(patients.reward.mean(axis=0) - population.mean_given_chosen())
        assert np.all(error < 4.5 * np.sqrt(0.25 / n))


def test_three_arms_by_hand() -> None:
    population = ComplianceTypes(
        "three",
        ("none", "low", "high"),
        [
            ComplianceType("obliging", 0.6, (0, 1, 2), (0.1, 0.5, 0.9)),
            ComplianceType("timid", 0.4, (0, 0, 1), (0.2, 0.4, None)),
        ],
    )
    np.testing.assert_allclose(population.compliance(), [[1.0, 0.0, 0.0], [0.4, 0.6, 0.0], [0.0, 0.4, 0.6]])
    np.testing.assert_allclose(population.mean_given_chosen(), [0.06 + 0.08, 0.08 + 0.3, 0.16 + 0.54], rtol=1e-12)
    np.testing.assert_allclose(
        population.mean_given_both(),
        [[0.14, np.nan, np.nan], [0.2, 0.5, np.nan], [np.nan, 0.4, 0.9]],
    )
    np.testing.assert_allclose(population.mean_given_actual(), [(0.14 + 0.08) / 1.4, (0.3 + 0.16) / 1.0, 0.54 / 0.6])
    # Only the low arm is ever chosen: nobody takes the high one.
    np.testing.assert_allclose(population.mean_given_actual([0, 1, 0]), [0.2, 0.5, np.nan])


@pytest.mark.parametrize(
    ("name", "takes"),
    [
        ("never-taker", NEVER_TAKER),
        ("Always-Taker", ALWAYS_TAKER),
        (" complier ", COMPLIER),
        ("DEFIER", DEFIER),
    ],
)
def test_named_behaviours(name: str, takes: tuple[int, int]) -> None:
    assert ComplianceType(name, 1.0, reward=(0.5, 0.5)).takes == takes


def test_rewards_of_arms_never_taken_may_be_left_out() -> None:
    dash: Any = "-"
    compliance_type = ComplianceType("always-taker", 1.0, reward=(dash, 1))
    assert compliance_type == ComplianceType("always-taker", 1.0, reward=(None, 1.0))
    population = ComplianceTypes("all", ARMS, [compliance_type, ComplianceType("defier", 0.0, reward=(0.5, 0.5))])
    assert population.reward_values == (1.0,)
    assert population.tables(0, 0, 1).cumulative.shape == (1, 1, 1)


def test_arrays_will_do() -> None:
    takes: Any = np.array([1, 0])
    reward: Any = np.array([0.25, 0.5])
    assert ComplianceType("other", 1.0, takes, reward) == ComplianceType("other", 1.0, DEFIER, (0.25, 0.5))


def test_arms_may_be_named_in_any_order() -> None:
    arms = ("none", "walk", "class")
    named = ComplianceTypes(
        "exercise",
        arms,
        [
            ComplianceType("obliging", 0.5, "As told", {"class": 0.6, "none": 0.4, "walk": 0.5}),
            ComplianceType(
                "no time", 0.3, {"walk": "walk", "none": "none", "class": "walk"}, {"none": 0.3, "walk": True}
            ),
            ComplianceType("walks anyway", 0.2, dict.fromkeys(arms, "walk"), 0.7),
        ],
    )
    numbered = ComplianceTypes(
        "exercise",
        arms,
        [
            ComplianceType("obliging", 0.5, (0, 1, 2), (0.4, 0.5, 0.6)),
            ComplianceType("no time", 0.3, (0, 1, 1), (0.3, 1.0, None)),
            ComplianceType("walks anyway", 0.2, (1, 1, 1), (0.7, 0.7, 0.7)),
        ],
    )
    assert named == numbered
    assert named.types[1].takes == (0, 1, 1)
    # The same compliance types fit another order of the arms.
    other = ComplianceTypes(
        "exercise", arms[::-1], [ComplianceType("all", 1, "as told", {"none": 0, "walk": 0.5, "class": 1})]
    )
    assert other.types[0].reward == (1.0, 0.5, 0.0)
    with_words = ComplianceTypes(
        "two", ARMS, [ComplianceType("x", 0.5, "Always-taker", 0.5), ComplianceType("complier", 0.5, reward=0.25)]
    )
    assert [(one.takes, one.reward) for one in with_words.types] == [((1, 1), (0.5, 0.5)), ((0, 1), (0.25, 0.25))]
    assert ComplianceType("three", 1.0, "as told", (0, 0.5, 1)).takes == (0, 1, 2)
    always = ComplianceTypes(
        "always", ARMS, [ComplianceType("one", 1.0, "treatment", 0.5)]
    )  # an arm's name: always that arm
    assert always.types[0] == ComplianceType("one", 1.0, (1, 1), (0.5, 0.5))


NAMED = "the arm taken for each chosen arm, e.g. {'control': 'treatment', …}, or 'as told'"


@pytest.mark.parametrize(
    ("takes", "reward", "message"),
    [
        ({"control": "treatment"}, 0.5, "takes: got 'control', expected also what is taken if 'treatment' is chosen"),
        ({"control": "x", "treatment": "control"}, 0.5, "takes: got 'x', expected one of control, treatment"),
        ({"contrl": "control", "treatment": "control"}, 0.5, "takes: got 'contrl', expected one of control, treat"),
        (
            "as tol",
            0.5,
            "takes: got 'as tol', expected one of as told, control, treatment, never-taker, always-taker, complier, "
            "defier (did you mean 'as told'?), or the arm taken for each chosen arm, e.g. {'control': 'treatment',",
        ),
        (
            "as told",
            {"control": 0.5},
            "reward: got 'control', expected also the mean reward of 'treatment', wh",
        ),
        ("as told", {"control": 0.5, "treatment": 7}, "reward of 'treatment': got 7, expected a number from 0 to 1"),
        (
            "as told",
            {"control": 0.5, "tretment": 1},
            "reward: got 'tretment', expected one of control, treatment",
        ),
        ("as told", (0.5, 0.5, 0.5), "reward: 3 mean rewards for 2 arms (control, treatment); expected one per arm"),
        ("as told", 1.5, "reward: got 1.5, expected a number from 0 to 1"),
        ("as told", "much", "reward: got 'much', expected a number from 0 to 1"),
        (7, 0.5, f"takes: got 7, expected {NAMED}"),
        (("control", "treatment"), 0.5, "takes: got 'control', expected arms numbered from 0 to 1"),
    ],
)
def test_bad_names(takes: Any, reward: Any, message: str) -> None:
    with pytest.raises(InputError) as caught:
        ComplianceTypes("bad", ARMS, [ComplianceType("one", 1.0, takes, reward)])
    assert f"compliance type 'one', {message}" in str(caught.value)


BAD_TYPES: list[tuple[dict[str, Any], str]] = [
    ({"name": ""}, "compliance type name: got ''"),
    ({"probability": 1.5}, "compliance type 'defier', probability: got 1.5, expected a number from 0 to 1"),
    ({"probability": float("nan")}, "compliance type 'defier', probability: got nan"),
    ({"probability": -0.1}, "compliance type 'defier', probability: got -0.1"),
    ({"probability": True}, "compliance type 'defier', probability: got True"),
    ({"probability": "half"}, "compliance type 'defier', probability: got 'half'"),
    ({"probability": 10**400}, "compliance type 'defier', probability: got 1000"),
    ({"reward": (0.5, 1.2)}, "compliance type 'defier', reward of arm 1: got 1.2, expected a number from 0 to 1"),
    ({"reward": (float("nan"), 1)}, "compliance type 'defier', reward of arm 0: got nan"),
    ({"reward": (None, 1)}, "compliance type 'defier', reward of arm 0: got None"),
    ({"reward": (1,)}, "compliance type 'defier', reward: got (1,), expected 2 mean rewards"),
    ({"reward": 1.5}, "compliance type 'defier', reward: got 1.5, expected a number from 0 to 1"),
    ({"reward": ()}, "compliance type 'defier', reward: got (), expected 2 mean rewards"),
    ({"takes": (0, 2)}, "compliance type 'defier', takes: got 2, expected arms numbered from 0 to 1"),
    ({"takes": (0, -1)}, "compliance type 'defier', takes: got -1"),
    ({"takes": (0, "b")}, "compliance type 'defier', takes: got 'b'"),
    ({"name": "compliers"}, "did you mean 'complier'?"),
]


@pytest.mark.parametrize(("change", "message"), BAD_TYPES)
def test_bad_compliance_type(change: dict[str, Any], message: str) -> None:
    fine: dict[str, Any] = {"name": "defier", "probability": 1.0, "reward": (0, 1)}
    with pytest.raises(InputError) as caught:
        ComplianceType(**(fine | change))
    assert message in str(caught.value)


def test_bad_mixtures() -> None:
    half = ComplianceType("half", 0.5, COMPLIER, (0, 1))
    not_a_compliance_type: Any = "defier"
    for types, message in [
        (
            [half],
            "probabilities of the compliance types: got [0.5], expected probabilities that sum to one, not to 0.5",
        ),
        ([], "types: got (), expected at least one compliance type"),
        ([half, half], "types: got 'half', expected each name once"),
        (
            [ComplianceType("three", 1.0, (0, 1, 2), (0, 0, 0))],
            "compliance type 'three', takes: got (0, 1, 2), expected 2 arms",
        ),
        ([not_a_compliance_type], "types: got 'defier'"),
    ]:
        with pytest.raises(InputError) as caught:
            ComplianceTypes("bad", ARMS, types)
        assert message in str(caught.value)


def test_probabilities_that_round_to_one_are_fine() -> None:
    tenth = [ComplianceType(f"s{number}", 0.1, DEFIER, (0.0, 1.0)) for number in range(10)]
    population = ComplianceTypes("tenths", ARMS, tenth)
    np.testing.assert_allclose(population.mean_given_chosen(), [1, 0], rtol=1e-15)
