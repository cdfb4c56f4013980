"""The section on small trials follows its tables."""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import polars
import pytest

from adhere import simulate
from adhere.report.section import AGREES, DIFFERS, IN_PART
from adhere.simulation import Estimate
from adhere.studies.lineup import ALL, LEARNERS, STRATEGIES, entry, estimate_in
from adhere.studies.small_trials.study import AVERAGE, AVERAGE_BUT_BOUNDED, READINGS, STUDY, average
from studies.sections import check_texts_are_whole, prose
from studies.stand_ins import simulate_stand_ins

if TYPE_CHECKING:
    from adhere.studies.framework.study import Tables

SMALL, LARGE = 10, 40
OTHER, ANY, BETTER = READINGS


@cache
def tables() -> Tables:
    results = {}
    for name, one in STUDY.experiments(True).items():
        n_runs = LARGE if one.n_runs > 1000 else SMALL
        results[name] = simulate_stand_ins(one, 12, n_runs, seed=2)
    return STUDY.tables(results)


def with_gains(**means: float) -> Tables:
    """The tables with every gain of a reading, in the larger size, at a given mean (± 0.02)."""
    by_reading = {reading.replace("_", "-"): mean for reading, mean in means.items()}
    place = polars.col("population").is_in(list(by_reading)) & (polars.col("n_runs") == LARGE)
    mean = polars.col("population").replace_strict(by_reading, default=None, return_dtype=polars.Float64)
    values = {"mean": mean, "se": polars.lit(0.01), "low": mean - 0.02, "high": mean + 0.02}
    changed = [
        polars.when(place).then(value).otherwise(polars.col(name)).alias(name) for name, value in values.items()
    ]
    return {**tables(), "gains": tables()["gains"].with_columns(changed)}


def test_sizes_are_the_papers_and_a_hundred_times_that() -> None:
    full, quick = STUDY.experiments(False), STUDY.experiments(True)
    for size in (1000, 100_000):
        assert sum(len(one.policies) for one in full.values() if one.n_runs == size) == len(ALL)
        assert sum(len(one.policies) for one in quick.values() if one.n_runs == size // 10) == len(ALL)
    assert {one.n_patients for one in full.values()} == {12}
    assert {one.populations for one in full.values()} == {("uniform-other", "uniform-any", "uniform-corrective")}


def test_learners_run_apart_meet_the_same_patients() -> None:
    """Figures do not depend on which policies were run together."""
    policies = ["ucb1", "thompson", "epsilon-greedy/actual", "thompson/comply"]
    together = simulate(policies, list(READINGS), 12, LARGE, 2, grid=1)
    for outcome in together.outcomes:
        where = {"population": outcome.population, "policy": outcome.policy, "measure": "realised_surplus"}
        assert estimate_in(tables()["final"], n_runs=LARGE, **where) == outcome.realised_surplus


def test_gains_are_paired_differences_from_the_same_learners_chosen() -> None:
    final, gains = (tables()[name].filter(n_runs=LARGE) for name in ("final", "gains"))
    paired = 0
    for learner in LEARNERS:
        chosen, actual = (
            estimate_in(final, population=ANY, policy=entry(learner, strategy).policy, measure="surplus")
            for strategy in ("Chosen", "Actual")
        )
        gain = estimate_in(gains, population=ANY, learner=learner, strategy="Actual")
        assert gain.mean == pytest.approx(actual.mean - chosen.mean, abs=1e-12)
        assert gain.se is not None
        assert chosen.se is not None
        assert actual.se is not None
        paired += not math.isclose(gain.se, math.hypot(chosen.se, actual.se), rel_tol=1e-3)
    assert paired == len(LEARNERS)


def test_averages_are_over_four_learners_and_four_strategies() -> None:
    gains = tables()["gains"].filter(n_runs=LARGE, population=OTHER)
    means = {(row["learner"], row["strategy"]): row["mean"] for row in gains.to_dicts()}
    others = STRATEGIES[1:]
    everything = np.array([[means[learner, strategy] for strategy in others] for learner in LEARNERS])
    assert means[AVERAGE, AVERAGE] == pytest.approx(everything.mean())
    assert means["UCB1", AVERAGE] == pytest.approx(everything[2].mean())
    assert means[AVERAGE, "Comply"] == pytest.approx(everything[:, 1].mean())
    assert means[AVERAGE, AVERAGE_BUT_BOUNDED] == pytest.approx(everything[:, :3].mean())


def test_an_average_is_wide_enough_for_parts_that_go_together() -> None:
    draws = np.random.default_rng(0).normal(size=400)
    parts = [Estimate(0.0, scale * draws.std() / 20, None, None) for scale in (1.0, 3.0)]
    together = (1.0 * draws + 3.0 * draws) / 2
    assert average(parts).se == pytest.approx(together.std() / 20)


@pytest.mark.parametrize(
    ("other", "either", "better", "verdict", "where"),
    [
        (0.1, 0.2, 0.1, AGREES, "under all three readings"),
        (-0.1, 0.2, 0.01, IN_PART, "only if non-compliers take either arm"),
        (0.1, 0.2, -0.1, IN_PART, "only if non-compliers take the other arm or either arm"),
        (-0.1, 0.0, -0.1, DIFFERS, "under none of the readings"),
    ],
)
def test_verdict_follows_the_averages(other: float, either: float, better: float, verdict: str, where: str) -> None:
    section = STUDY.render(with_gains(uniform_other=other, uniform_any=either, uniform_corrective=better))
    (claim,) = section.claims
    assert claim.verdict == verdict
    check_texts_are_whole(section)
    assert (
        f"compliance information gains rewards {where}: {other:+.3f} per trial with the other arm, " in section.result
    )
    assert f"{other:+.3f} [{other - 0.02:+.3f}, {other + 0.02:+.3f}] with the other arm" in claim.ours


def test_the_learners_that_differ_most_are_named() -> None:
    tables = with_gains(uniform_other=-0.1, uniform_any=0.1, uniform_corrective=0.0)
    ucb1 = (polars.col("learner") == "UCB1") & (polars.col("population") == ANY)
    lower = [polars.when(ucb1).then(polars.col(name) - 0.3).otherwise(polars.col(name)).alias(name)
             for name in ("mean", "low", "high")]  # fmt: skip
    said = prose(STUDY.render({**tables, "gains": tables["gains"].with_columns(lower)}))
    assert "Learners differ most with either arm: from -0.20 rewards per trial (UCB1) to +0.10 (" in said


def test_the_smaller_size_is_printed_too() -> None:
    tables = with_gains(uniform_other=0.1, uniform_any=-0.1, uniform_corrective=0.0)
    gains = tables["gains"].with_columns(
        mean=polars.when(n_runs=SMALL).then(0.3).otherwise("mean"),
        low=polars.when(n_runs=SMALL).then(polars.when(population=OTHER).then(0.1).otherwise(-0.1)).otherwise("low"),
        high=polars.when(n_runs=SMALL).then(0.5).otherwise("high"),
    )
    section = STUDY.render({**tables, "gains": gains})
    (claim,) = section.claims
    few = "+0.30 [+0.10, +0.50], +0.30 [-0.10, +0.50] and +0.30 [-0.10, +0.50]"
    holds = "the remark holds only if non-compliers take the other arm."
    assert section.uncertainty.endswith(f"With {SMALL} simulations {holds}")  # which are not the paper's
    assert claim.ours.endswith(f"with {SMALL} simulations {few}")
    assert f"({LARGE} simulations)" in claim.ours


def test_best_policies_are_those_with_the_highest_surplus() -> None:
    highest = {OTHER: "ucb1/comply", ANY: "thompson", BETTER: "ucb1/comply"}
    final = tables()["final"]
    for reading, policy in highest.items():
        place = (polars.col("policy") == policy) & (polars.col("n_runs") == LARGE)
        place &= (polars.col("measure") == "surplus") & (polars.col("population") == reading)
        final = final.with_columns(mean=polars.when(place).then(3.0).otherwise(polars.col("mean")))
    said = prose(STUDY.render({**tables(), "final": final}))
    assert (
        "Best is UCB1 under Comply if they take the other arm (surplus 3.00) or the better arm (surplus 3.00)" in said
    )
    assert ", and Thompson under Chosen if they take either arm (surplus 3.00)" in said


def test_section_is_whole() -> None:
    section = STUDY.render(tables())
    check_texts_are_whole(section)
    assert f"42 policies, {SMALL} and {LARGE} simulations" in section.details[0]
    gains, *final = section.listings
    assert len(gains.rows) == 5 * 6
    assert [len(one.rows) for one in final] == [42] * 4  # one for each reading, and the texts of the policies
    for listing in (gains, *final):
        assert {len(row) for row in listing.rows} == {len(listing.header)}
    assert [one.name for one in section.figures] == ["small-trials-gains", "small-trials-final"]
