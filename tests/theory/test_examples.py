"""Examples 1 and 2: what learning from the treatment actually taken can cost."""

from __future__ import annotations

import pytest

from adhere import SimulationResult, simulate

from .estimates import z_of

BOUNDED = "thompson-bounded(hierarchical(epsilon-greedy))"
RECYCLING = "thompson-bounded(hierarchical(epsilon-greedy), recycle=true)"


@pytest.fixture(scope="module")
def defiers() -> SimulationResult:
    return simulate(
        ["thompson", "thompson/actual", BOUNDED, RECYCLING], "defiers", 2000, 300, seed=1, grid=[200, 2000]
    )


def test_defiers_actual_loses_all_it_can(defiers: SimulationResult) -> None:
    regret = defiers["defiers", "thompson/actual"].trajectory("regret")
    # What it does not lose is its first few patients, however long the trial.
    assert (regret.t - regret.high > 0).all()
    assert (regret.t - regret.low < 3).all()


@pytest.mark.parametrize(("policy", "most"), [("thompson", 2.5), (BOUNDED, 5.0), (RECYCLING, 7.0)])
def test_defiers_chosen_and_thompson_bounded_lose_almost_nothing(
    defiers: SimulationResult, policy: str, most: float
) -> None:
    regret = defiers["defiers", policy].trajectory("regret")
    assert (regret.high < most).all()
    assert regret.mean[1] - regret.mean[0] < 0.2  # all of it in the first 200 of 2000 patients


LEARNERS = ["thompson", "epsilon-greedy"]
T = [2500, 5000, 10_000]


@pytest.fixture(scope="module")
def rich_and_poor() -> SimulationResult:
    protocols = [f"{learner}{protocol}" for learner in LEARNERS for protocol in ("", "/actual", "/comply")]
    hybrids = [BOUNDED, RECYCLING, "hierarchical(epsilon-greedy)", "hierarchical(thompson)"]
    return simulate([*protocols, *hybrids], "rich-and-poor", T[-1], 300, seed=2, grid=T)


@pytest.mark.parametrize("learner", LEARNERS)
def test_rich_and_poor_actual_loses_in_proportion_to_the_patients(
    rich_and_poor: SimulationResult, learner: str
) -> None:
    actual = rich_and_poor["rich-and-poor", f"{learner}/actual"]
    assert z_of(actual.surplus) < -20
    assert actual.worse_than_randomisation.mean > 0.99
    surplus = actual.trajectory()
    # The gap is 0.125, so 0.0625 a patient is all that can be lost. It loses more than half of that, and the
    # later patients lose no less than the first.
    assert (surplus.high < -0.0625 * surplus.t / 2).all()
    assert (surplus.low > -0.0625 * surplus.t).all()
    assert (surplus.mean[2] - surplus.mean[1]) / (T[2] - T[1]) < surplus.mean[0] / T[0]


def test_rich_and_poor_comply_is_indifferent(rich_and_poor: SimulationResult) -> None:
    """Comply sees 0.5 on both arms: it settles anywhere, so the mean is near 0 and the spread is all there is."""
    comply = rich_and_poor["rich-and-poor", "thompson/comply"]
    most = 0.0625 * T[-1]
    assert abs(comply.surplus.mean) < 0.15 * most
    assert comply.quantile(0.1) < -0.6 * most
    assert comply.quantile(0.9) > 0.6 * most
    chosen = rich_and_poor["rich-and-poor", "thompson"]
    assert chosen.surplus.se is not None
    assert comply.surplus.se is not None
    assert comply.surplus.se > 10 * chosen.surplus.se


@pytest.mark.parametrize(
    ("policy", "share"),
    [
        ("thompson", 0.9),
        ("epsilon-greedy", 0.85),
        (BOUNDED, 0.85),
        (RECYCLING, 0.85),
        ("hierarchical(epsilon-greedy)", 0.4),
        ("hierarchical(thompson)", 0.4),
    ],
)
def test_rich_and_poor_chosen_and_hybrids_do_well(rich_and_poor: SimulationResult, policy: str, share: float) -> None:
    """They gain at least this share of all that can be gained, and more of it the longer the trial."""
    surplus = rich_and_poor["rich-and-poor", policy].trajectory()
    gained = surplus.mean / (0.0625 * surplus.t)
    assert surplus.low[-1] > share * 0.0625 * T[-1]
    assert gained[0] < gained[1] < gained[2]


def test_rich_and_poor_every_hybrid_beats_actual(rich_and_poor: SimulationResult) -> None:
    actual = rich_and_poor["rich-and-poor", "epsilon-greedy/actual"].surplus
    for policy in (BOUNDED, RECYCLING, "hierarchical(epsilon-greedy)", "hierarchical(thompson)"):
        hybrid = rich_and_poor["rich-and-poor", policy].surplus
        assert actual.se is not None
        assert z_of(hybrid, actual.mean, actual.se) > 20
