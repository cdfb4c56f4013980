from __future__ import annotations

import math
from itertools import chain

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adhere.analysis.analyse import analyse_records
from adhere.analysis.estimates import Validity
from adhere.analysis.output.tables import mediation_table
from adhere.analysis.records import TOOK_NOTHING, Records
from adhere.analysis.trust.mediation import ArmMediation, evidence_of, log_bayes_factor, log_e_value, mediation
from adhere.intervals import RewardSums, wilson
from adhere.populations import stroke_aspirin, stroke_heparin
from oracle import mediation_evidence as oracle
from oracle.mediated import MediatedThompson

from .made_records import MISSING, Row, any_records, made, of_counts

CELLS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)).filter(any), min_size=2, max_size=4)


def newcombe(
    successes: float, n: int, control_successes: float, n_control: int, level: float = 0.95
) -> tuple[float, float]:
    """Newcombe's hybrid score interval for a difference of two proportions (Newcombe 1998, method 10)."""
    p, p_control = successes / n, control_successes / n_control
    low, high = wilson(successes, n, level)
    low_control, high_control = wilson(control_successes, n_control, level)
    difference = p - p_control
    below = math.hypot(p - low, high_control - p_control)
    above = math.hypot(high - p, p_control - low_control)
    return max(-1.0, difference - below), min(1.0, difference + above)


def sums(cells: list[tuple[int, int]]) -> list[RewardSums]:
    return [RewardSums(good + bad, float(good), float(good)) for good, bad in cells]


@settings(max_examples=40, deadline=None)
@given(CELLS)
def test_evidence_is_what_exact_integrals_say(cells: list[tuple[int, int]]) -> None:
    assert log_bayes_factor(sums(cells)) == pytest.approx(math.log(oracle.bayes_factor(cells)), abs=1e-9)
    assert log_e_value(sums(cells)) == pytest.approx(math.log(oracle.e_value(cells)), abs=1e-9)


def test_the_bayes_factor_is_that_of_the_policy_that_learns_by_it() -> None:
    rng = np.random.default_rng(1)
    policy = MediatedThompson(3)
    rows: list[Row] = []
    for chosen, actual, success in zip(*rng.integers(0, [[3], [3], [2]], (3, 40)).tolist(), strict=True):
        policy.counts[bool(success)][chosen][actual] += 1
        rows.append((chosen, actual, float(success), 1))
    result = mediation(made(rows, ["a", "b", "c"]), adaptive=True)
    assert result.log_bayes_factor == pytest.approx(-policy.log_bayes_factor())


RICH_AND_POOR: list[Row] = [  # 1,000 patients an arm, as many as the population of that name expects
    (0, 0, 1.0, 250),
    (0, 0, 0.0, 250),
    (0, 1, 1.0, 375),
    (0, 1, 0.0, 125),
    (1, 1, 1.0, 500),
    (1, 1, 0.0, 500),
]


@pytest.mark.parametrize("adaptive", [False, True])
def test_rich_and_poor_are_told_apart(adaptive: bool) -> None:
    result = mediation(made(RICH_AND_POOR), adaptive=adaptive)
    old, new = result.arms
    assert result.refuted
    assert not result.equivalent
    assert result.sentence.startswith("Refuted: the outcome depends not only on what was taken but also on the arm")
    assert old.refuted is old.within_margin is old.log_e is None
    assert old.sentence.startswith("All who took old had been assigned to old, so it cannot be tested")
    assert new.refuted
    assert "0.500 if assigned to new, 0.750 if assigned to old" in new.sentence
    assert new.largest_difference.value == pytest.approx(0.25)
    assert new.largest_difference.sets[0].validity is (Validity.ANY_TIME if adaptive else Validity.FIXED)
    assert result.log_e == new.log_e
    assert (new.p_value is None) == adaptive


def test_pearson_s_test_of_a_fixed_sample() -> None:
    new = mediation(made(RICH_AND_POOR), adaptive=False).arms[1]
    statistic = 1500 * (375 * 500 - 125 * 500) ** 2 / (500 * 1000 * 875 * 625)  # of a 2 × 2 table, in one formula
    assert new.p_value == pytest.approx(math.erfc(math.sqrt(statistic / 2)))


def test_outcomes_between_0_and_1_are_judged_by_their_own_spread() -> None:
    few: list[Row] = [(0, 1, 0.2, 1), (0, 1, 0.4, 1), (1, 1, 0.5, 1), (1, 1, 0.9, 1)]
    t = 0.4 / math.sqrt(0.05)  # Student's, with two degrees of freedom, whose distribution has a closed form
    assert mediation(made(few), adaptive=False).p_value == pytest.approx(1 - t / math.sqrt(2 + t * t))

    narrow: list[Row] = [(c, 1, y + 0.03 * c, 100) for c in (0, 1) for y in (0.45, 0.55)]
    result = mediation(made(narrow), adaptive=False)
    (limits,) = result.arms[1].largest_difference.sets
    assert limits.method == "Student, combined as by Newcombe"
    assert 0.019 < limits.low < 0.03 < limits.high < 0.041
    assert result.differs
    assert result.equivalent
    assert "The Bayes factor, which is rough where outcomes are not all 0 or 1, is" in result.sentence

    skewed: list[Row] = [(c, 1, y, 10) for c in (0, 1) for y in (0.95, 1.0)]
    (cautious,) = mediation(made(skewed), adaptive=False).arms[1].largest_difference.sets
    assert cautious.high == pytest.approx(newcombe(19.5, 20, 19.5, 20)[1])

    (of_zeros_and_ones,) = mediation(made(RICH_AND_POOR), adaptive=False).arms[1].largest_difference.sets
    assert (of_zeros_and_ones.low, of_zeros_and_ones.high) == pytest.approx(newcombe(375, 500, 500, 1000))


def test_stroke_trial_aspirin_not_taken_differs_by_what_was_assigned() -> None:
    result = mediation(of_counts(stroke_aspirin()), adaptive=False)
    none, aspirin = result.arms
    assert not result.refuted
    assert result.differs
    assert none.differs
    assert not aspirin.differs
    assert "0.865 if assigned to aspirin, 0.906 if assigned to none (p < 0.001, e-value 0.128)" in none.sentence
    assert aspirin.sentence.startswith("Not decided for aspirin: no difference by the arm assigned is shown")
    assert result.sentence.startswith("In this sample the outcome depends not only on what was taken")


def test_not_refuted_is_not_called_safe() -> None:
    result = mediation(of_counts(stroke_heparin()), adaptive=False)
    assert (result.refuted, result.differs, result.equivalent) == (False, False, False)
    assert "Not refuted does not mean safe." in result.sentence
    assert result.arms[2].refuted is None  # nobody took the medium dose who was not assigned to it


def test_alike_within_the_margin() -> None:
    rows: list[Row] = [(c, a, float(y), 20_000) for c in (0, 1) for a in (0, 1) for y in (0, 1)]
    for adaptive in (False, True):
        result = mediation(made(rows), adaptive=adaptive)
        assert result.equivalent
        assert not result.refuted
        assert all("fared alike" in arm.sentence for arm in result.arms)
    assert not mediation(made(rows), adaptive=False, margin=0.001).equivalent


def test_a_difference_may_be_certain_and_small() -> None:
    rows: list[Row] = [
        (c, a, float(y), 10**6 + 30_000 * (c == y == 1)) for c in (0, 1) for a in (0, 1) for y in (0, 1)
    ]
    result = mediation(made(rows), adaptive=False)
    assert result.refuted
    assert result.equivalent
    assert "less than the margin of 0.05, though they do differ" in result.sentence


def test_one_arm_can_be_refuted_where_all_together_are_not() -> None:
    rows: list[Row] = [(0, 1, 1.0, 20), (0, 1, 0.0, 5), (1, 1, 1.0, 10), (1, 1, 0.0, 20)]
    rows += [(chosen, 0, float(reward), 10**6) for chosen in (0, 1) for reward in (0, 1)]
    result = mediation(made(rows), adaptive=True)
    assert not result.refuted
    assert result.arms[1].refuted
    assert result.sentence.startswith(
        "Refuted for those who took new: their outcome also depends on the arm assigned."
    )


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ([(0, 0, 1.0, 5), (1, 1, 0.0, 5)], "Everybody took the arm they were assigned, so there is nothing to test."),
        ([(0, 1, 1.0, 5), (1, 0, 0.0, 5)], "No arm was taken by patients assigned to different arms"),
        ([(0, 0, 1.0, 5), (1, TOOK_NOTHING, 0.0, 5)], "No arm was taken by patients assigned to different arms"),
        ([(0, 0, MISSING, 5)], "No patient has both a known outcome and a report of what was taken"),
        ([], "No patient has both a known outcome and a report of what was taken"),
    ],
)
def test_what_cannot_be_tested_is_said(rows: list[Row], sentence: str) -> None:
    result = mediation(made(rows), adaptive=False)
    assert result.sentence.startswith(sentence)
    assert result.refuted is result.equivalent is result.log_e is result.log_bayes_factor is None


@settings(max_examples=40, deadline=None)
@given(any_records(), st.booleans())
def test_whatever_the_records_there_is_a_result(records: Records, adaptive: bool) -> None:
    result = mediation(records, adaptive=adaptive)
    tested = [arm for arm in result.arms if arm.log_e is not None]
    assert (result.log_e is None) == (not tested)
    assert result.sentence
    for arm in tested:
        assert check_numbers(arm)
    for arm in result.arms:
        assert arm.sentence
        assert (arm.largest_difference.value is None) == bool(arm.largest_difference.reason)


def check_numbers(arm: ArmMediation) -> bool:
    value, (limits,) = arm.largest_difference.value, arm.largest_difference.sets
    assert arm.log_e is not None
    assert arm.log_bayes_factor is not None
    assert arm.log_e <= arm.log_bayes_factor  # mediated at its likeliest mean, against its average
    assert 0.0 <= limits.low <= limits.high <= 1.0
    assert value is not None
    assert value <= limits.high + 1e-12
    assert arm.within_margin == (limits.high <= 0.05)
    return all(map(math.isfinite, chain((arm.log_e, arm.log_bayes_factor, value), ())))


@pytest.mark.parametrize("fractional", [False, True])
def test_however_often_one_looks_mediated_data_are_rarely_refuted(fractional: bool) -> None:
    """Arms are chosen where the evidence against mediated is largest, by what is known, and one looks after all."""
    rng = np.random.default_rng(5)
    n_trials, n_refuted, n_by_p_value = 150, 0, 0
    for _ in range(n_trials):
        cells = [[RewardSums(), RewardSums()], [RewardSums(), RewardSums()]]  # [actual][chosen]
        largest, smallest_p = 0.0, 1.0
        for look in range(80):
            means = [(cell.total + 0.5) / (cell.n + 1) for cell in cells[1]]
            chosen = int(means[1] > means[0]) if rng.random() < 0.8 else look % 2
            actual = int(rng.random() < (0.3, 0.8)[chosen])
            mean = (0.3, 0.6)[actual]
            reward = rng.beta(4 * mean, 4 - 4 * mean) if fractional else float(rng.random() < mean)
            cells[actual][chosen].add(reward)
            tested = [group for group in cells if group[0].n and group[1].n]
            if tested:
                evidence = evidence_of(tested, adaptive=fractional)
                largest, smallest_p = max(largest, evidence.log_e), min(smallest_p, evidence.p_value or 1.0)
        n_refuted += largest >= math.log(20)
        n_by_p_value += smallest_p <= 0.05
    assert n_refuted <= 0.05 * n_trials
    assert fractional or n_by_p_value > 0.2 * n_trials  # which is why a p-value is not given for such data


def test_flat_priors_are_not_called_evidence_where_nothing_is_decided() -> None:
    few = mediation(made([(c, a, float(y), 15) for c in (0, 1) for a in (0, 1) for y in (0, 1)]), adaptive=False)
    assert few.sentence.startswith("Not decided")
    assert "with few patients it leans that way by itself." in few.sentence
    many = mediation(made([(c, a, float(y), 4_000) for c in (0, 1) for a in (0, 1) for y in (0, 1)]), adaptive=False)
    assert "(very strong evidence)" in many.sentence
    for said in (few, mediation(of_counts(stroke_heparin()), adaptive=False)):
        assert "evidence)" not in said.sentence


@pytest.mark.parametrize(
    ("rows", "favours"),
    [
        (RICH_AND_POOR, "dependence on the arm assigned"),
        ([(c, 1, y, 100) for c in (0, 1) for y in (0.0, 1.0)], "no dependence on the arm assigned"),
        ([(0, 1, 1.0, 1), (1, 1, 0.0, 1)], "dependence on the arm assigned"),  # 1.5: next to nothing
    ],
)
def test_a_bayes_factor_says_what_it_is_in_favour_of_wherever_it_stands(rows: list[Row], favours: str) -> None:
    analysis = analyse_records(made(rows))
    found = analysis.mediation
    assert found.bayes_factor.endswith(f" in favour of {favours}")
    assert f"The Bayes factor is {found.bayes_factor}" in found.sentence
    written = analysis.to_json()["mediation"]
    assert written["bayes_factor"] == found.bayes_factor
    assert written["arms"][1]["bayes_factor"] == found.arms[1].bayes_factor != ""
    column = mediation_table(analysis).header.index("Bayes factor")
    cells = [row[column] for row in mediation_table(analysis).rows]
    short = "that it does not" if favours.startswith("no ") else "that it does"
    assert cells[1].endswith(short)
    assert cells[-1].endswith(short)
    for shown in (analysis.summary(), analysis.to_html()):
        assert short in " ".join(shown.split())
