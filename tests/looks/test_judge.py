"""What looks decide, against the oracle, for evidence of all kinds; and the rules that a design gives."""

from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random

import numpy as np
import pytest

from adhere.design.design import Design
from adhere.design.make_design import checked
from adhere.design.make_look_rules import look_rules
from adhere.design.parts import MIRRORED, Looks, Stopping
from adhere.errors import InputError
from adhere.looks.judge import (
    ACTIVE,
    BY_EQUIVALENCE,
    BY_FUTILITY,
    BY_INFERIORITY,
    BY_SUPERIORITY,
    FUTILE,
    GO_ON,
    INFERIOR,
    N_VALUES,
    NAMES,
    SUPERIOR,
    BeliefRules,
    ControlledPosteriorRules,
    Evidence,
    NoRules,
    PosteriorRules,
    Rules,
    WealthRules,
    ZRules,
    judge,
    needs_beliefs,
    needs_wealth,
    selected_arm,
    work_size,
)
from oracle import looks as oracle
from oracle.looks import Arm, Thresholds

NONE = np.array([])


def design_with(n_arms: int, stopping: Stopping | None, control: int | None = None, n_looks: int = 2) -> Design:
    arms = tuple(f"arm {arm}" for arm in range(n_arms))
    name = None if control is None else arms[control]
    looks = Looks(at=tuple(range(100, 100 * n_looks, 100)))
    return Design("a", "uniform", arms, 100 * n_looks, control=name, looks=looks, stopping=stopping)


def rules_of(n_arms: int, stopping: Stopping | None, control: int | None = None, n_looks: int = 2) -> Rules:
    return look_rules(design_with(n_arms, stopping, control, n_looks))


def judged(
    rules: Rules,
    arms: Sequence[Arm],
    look: int = 0,
    beliefs: Sequence[float] = (),
    log: Sequence[Sequence[float]] = (),
) -> tuple[str, list[str], int, np.ndarray]:
    """The decision, the statuses, the arm selected and the values, of arms as the oracle has them."""
    k = len(arms)
    evidence = Evidence(
        n=np.array([float(arm.n) for arm in arms]),
        sums=np.array([sum(arm.outcomes) for arm in arms], dtype=np.float64),
        squares=np.array([sum(y * y for y in arm.outcomes) for arm in arms], dtype=np.float64),
        beliefs=np.array(beliefs, dtype=np.float64),
        log_up=np.array(log[0]) if log else NONE,
        log_down=np.array(log[1]) if log else NONE,
        work=np.full(work_size(k), np.nan),
    )
    status = np.array([NAMES.index(arm.status) for arm in arms])
    values = np.full(k * N_VALUES, 7.0)
    decision = judge(rules, look, evidence, status, values)
    return NAMES[decision], [NAMES[one] for one in status], selected_arm(status, values), values.reshape(k, N_VALUES)


def made_arms(random: Random, k: int, control: int | None = None) -> list[Arm]:
    """A few or many outcomes of each arm, 0 and 1 or in between; some arms were dropped before."""
    middle, arms = random.random(), []
    size = random.choice([8, 60, 300])
    for arm in range(k):
        mean = min(1.0, max(0.0, random.gauss(middle, 0.15)))
        outcomes = [float(random.random() < mean) for _ in range(random.randrange(size))]
        if random.random() < 0.2:
            outcomes = [0.25 + y / 2 for y in outcomes]
        is_dropped = random.random() < 0.2 and arm not in (control, 0, 1)
        arms.append(Arm(outcomes, "inferior" if is_dropped else "active"))
    return arms


THRESHOLDS = (
    Thresholds(0.95, 0.05, 0.8, None, 0.1),
    Thresholds(0.9, 0.1, None, 0.2, 0.05),
    Thresholds(None, 0.3, 0.5, 0.4, 0.2),
    Thresholds(0.8, None, 0.9, 0.3, 0.0),
)


def stopping_of(by: str, given: Thresholds) -> Stopping:
    return Stopping(
        by=by,  # type: ignore[arg-type]
        superiority=given.superiority,
        inferiority=given.inferiority,
        equivalence=given.equivalence,
        futility=given.futility,
        margin=given.margin,
    )


@pytest.mark.parametrize("seed", range(60))
def test_posterior_decisions_are_those_of_the_oracle(seed: int) -> None:
    random = Random(seed)
    k, given = random.choice([2, 2, 3, 4, 6]), random.choice(THRESHOLDS)
    control = random.choice([None, random.randrange(k)])
    arms = made_arms(random, k, control)
    look = random.choice([0, 1])
    decision, status, selected, _ = judged(rules_of(k, stopping_of("posterior", given), control), arms, look)
    given = given.at_the_end if look else given
    if control is None:
        assert decision == oracle.by_posterior(arms, given)
    else:
        assert decision == oracle.against_control(arms, control, oracle.found_by_posterior(given))
    assert status == [arm.status for arm in arms]
    assert (selected >= 0) == (decision == "superior")
    assert selected < 0 or status[selected] == "superior"


@pytest.mark.parametrize("seed", range(40))
def test_z_decisions_are_those_of_the_oracle(seed: int) -> None:
    random = Random(seed)
    k = random.choice([2, 3, 5])
    control = random.randrange(k)
    arms = made_arms(random, k, control)
    given = random.choice(
        (Thresholds(2.0, 2.0, 1.64, 0.1, 0.1), Thresholds(1.5, 2.5, None, -0.5), Thresholds(2.0, 2.0))
    )
    stopping = stopping_of("z-test", given)
    look = random.choice([0, 1])
    decision, status, _, values = judged(rules_of(k, stopping, control), arms, look)
    given = given.at_the_end if look else given
    z = [oracle.z_statistic(arm, arms[control]) for arm in arms]
    was_active = [arm.status == "active" for arm in arms]
    assert decision == oracle.against_control(arms, control, oracle.found_by_z(given))
    assert status == [arm.status for arm in arms]
    for arm in range(k):
        if arm != control and was_active[arm]:
            assert values[arm, BY_SUPERIORITY] == pytest.approx(z[arm], abs=1e-9)
        else:
            assert np.isnan(values[arm]).all()


@pytest.mark.parametrize("seed", range(20))
def test_belief_decisions_are_those_of_the_oracle(seed: int) -> None:
    random = Random(seed)
    arms = made_arms(random, 4)
    beliefs = [random.random() ** 3 for _ in arms]
    given = Thresholds(0.7, 0.1)
    decision, status, _, _ = judged(rules_of(4, stopping_of("belief", given)), arms, beliefs=beliefs)
    assert decision == oracle.by_belief(arms, beliefs, given)
    assert status == [arm.status for arm in arms]


def test_beliefs_of_two_arms_are_compared_with_a_control() -> None:
    rules = rules_of(2, Stopping(by="belief", superiority=0.9, inferiority=MIRRORED), control=1)
    assert needs_beliefs(rules)
    assert not needs_wealth(rules)
    decided = judged(rules, [Arm([]), Arm([])], beliefs=(0.95, 0.05))
    assert decided[:3] == ("superior", ["superior", "active"], 0)
    decided = judged(rules, [Arm([]), Arm([])], beliefs=(0.05, 0.95))
    assert decided[:3] == ("inferior", ["inferior", "active"], -1)
    assert decided[3][0].tolist()[:2] == [0.05, 0.05]


def test_wealth_decides_by_the_bets_on_both_sides() -> None:
    rules = rules_of(3, Stopping(by="wealth", alpha=0.05), control=0)
    assert isinstance(rules, WealthRules)
    assert needs_wealth(rules)
    enough = math.log(2 / 0.05)
    arms = [Arm([]) for _ in range(3)]
    assert judged(rules, arms, log=([0, enough - 0.1, 1], [0, 0, 2]))[:2] == ("active", ["active"] * 3)
    up = judged(rules, arms, log=([0, enough + 0.1, enough + 0.2], [0, 0, 0]))
    assert up[:3] == ("superior", ["active", "superior", "superior"], 2)
    down = judged(rules, arms, log=([0, 0, 0], [0, enough, 0]))
    assert down[:3] == ("active", ["active", "inferior", "active"], -1)
    arms[1].status = "inferior"
    assert judged(rules, arms, log=([0, 0, 0], [0, enough, enough]))[0] == "inferior"


def test_of_several_arms_the_most_clearly_superior_is_selected() -> None:
    arms = [Arm([1.0] * 20 + [0.0] * 80), Arm([1.0] * 50 + [0.0] * 50), Arm([1.0] * 60 + [0.0] * 40)]
    decided = judged(rules_of(3, Stopping(by="z-test", superiority=2.0), control=0), arms)
    assert decided[:3] == ("superior", ["active", "superior", "superior"], 2)


def test_nothing_is_compared_where_there_is_no_threshold() -> None:
    stopping = Stopping(by="posterior", superiority=(0.99, 0.95), futility=0.01)
    rules = rules_of(2, stopping)
    assert isinstance(rules, PosteriorRules)
    assert rules.superiority.tolist() == [0.99, 0.95]
    values = judged(rules, [Arm([0.0, 1.0]), Arm([1.0])])[3]
    assert np.isnan(values[:, [BY_INFERIORITY, BY_EQUIVALENCE]]).all()
    assert values[:, BY_SUPERIORITY].sum() == pytest.approx(1.0)
    assert values[1, BY_FUTILITY] == values[1, BY_SUPERIORITY]  # without a margin: the probability of any gain
    rules = rules_of(2, None)
    assert isinstance(rules, NoRules)
    decision, _, _, values = judged(rules, [Arm([0.0]), Arm([1.0])])
    assert decision == NAMES[GO_ON]
    assert np.isnan(values).all()


def test_a_z_test_of_two_arms_takes_the_first_as_control_and_is_symmetric() -> None:
    rules = rules_of(2, Stopping(by="z-test", boundary="obrien-fleming", alpha=0.05, futility=0.0), n_looks=3)
    assert isinstance(rules, ZRules)
    assert rules.control == 0
    assert rules.superiority == pytest.approx([3.471, 2.454, 2.004], abs=0.001)
    assert rules.inferiority.tolist() == rules.superiority.tolist()
    assert rules.futility[:2].tolist() == [0.0, 0.0]
    assert math.isnan(rules.futility[2])  # at the end there is nothing to save
    worse = [Arm([1.0] * 60 + [0.0] * 40), Arm([1.0] * 45 + [0.0] * 55)]
    assert [judged(rules, worse, look)[0] for look in range(3)] == [NAMES[FUTILE], NAMES[FUTILE], NAMES[INFERIOR]]
    assert [judged(rules, worse[::-1], look)[0] for look in range(3)] == [NAMES[ACTIVE]] * 2 + [NAMES[SUPERIOR]]


def test_rules_of_a_design_with_a_control_and_mirrored_thresholds() -> None:
    rules = rules_of(3, Stopping(by="posterior", superiority=0.9814, inferiority=MIRRORED), control=2)
    assert isinstance(rules, ControlledPosteriorRules)
    assert rules.control == 2
    assert rules.inferiority == pytest.approx([0.0186] * 2)
    assert isinstance(rules_of(3, Stopping(by="belief", superiority=0.9)), BeliefRules)


@pytest.mark.parametrize(
    ("n_arms", "stopping", "field"),
    [
        (3, Stopping(by="z-test", superiority=2.0), "control"),
        (3, Stopping(by="wealth", alpha=0.05), "control"),
        (2, Stopping(by="wealth"), "stopping.alpha"),
        (2, Stopping(by="z-test", boundary="pocock"), "stopping.alpha"),
        (2, Stopping(by="posterior", superiority=(0.9, 0.9, 0.9)), "stopping.superiority"),
    ],
)
def test_rules_that_lack_something_are_refused(n_arms: int, stopping: Stopping, field: str) -> None:
    with pytest.raises(InputError) as refused:
        checked(design_with(n_arms, stopping))
    assert refused.value.field == field


def test_a_boundary_needs_looks_by_number() -> None:
    stopping = Stopping(by="z-test", boundary="pocock", alpha=0.05)
    design = Design("a", "uniform", ("old", "new"), 100, looks=Looks(days=(30.0,)), stopping=stopping)
    with pytest.raises(InputError, match=r"looks\.days"):
        checked(design)
