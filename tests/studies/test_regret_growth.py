from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars
import pytest

from adhere.report.section import Section
from adhere.simulation import Estimate
from adhere.studies.growth_tables import (
    ANNEALED_HYBRID,
    BOUNDED,
    CONFOUNDED,
    FAINT,
    N_PATIENTS,
    NAIVE,
    PROMISES,
    RECYCLING,
    ROOT_HYBRID,
    THOMPSON_HYBRID,
)
from adhere.studies.regret_growth import STUDY

Law = Callable[[float], float]

LOGARITHM: Law = lambda t: 4 + 5 * np.log(t)  # noqa: E731
ROOT: Law = lambda t: 3 * np.sqrt(t)  # noqa: E731
STEEP: Law = lambda t: t**0.75  # noqa: E731
LINE: Law = lambda t: 0.2 * t  # noqa: E731
LAWS: dict[str, Law] = {
    **dict.fromkeys(["thompson", "ucb1", *BOUNDED], LOGARITHM),
    **dict.fromkeys(["exp3", ROOT_HYBRID, THOMPSON_HYBRID, RECYCLING], ROOT),
    **dict.fromkeys(["epsilon-greedy", ANNEALED_HYBRID], STEEP),
    NAIVE: LINE,
}


def told(changed: Mapping[str, Law], stuck: float = 0.0, relative_error: float = 0.01) -> Section:
    """The study's section, had regret followed these laws, after its tables were written and read."""
    results: dict[str, Any] = {}
    for name, one in STUDY.experiments(False).items():
        outcomes = []
        for population in one.populations:
            for policy in one.policies:
                regret = {**LAWS, **changed}[policy](one.n_patients)
                error = relative_error * regret
                wrong = stuck if policy == THOMPSON_HYBRID and population is FAINT else 0.0
                estimate = Estimate(regret, error, regret - 1.96 * error, regret + 1.96 * error)
                outcomes.append(
                    SimpleNamespace(
                        population=population.name,  # type: ignore[attr-defined]
                        policy=policy,
                        regret=estimate,
                        favours_best_arm=Estimate(1.0 - wrong, 0.0, 1.0, 1.0),
                    )
                )
        config = SimpleNamespace(n_patients=one.n_patients, n_runs=one.n_runs)
        results[name] = SimpleNamespace(config=config, outcomes=outcomes)
    written = {}
    for name, table in STUDY.tables(results).items():
        file = io.BytesIO()
        table.write_parquet(file)
        file.seek(0)
        written[name] = polars.read_parquet(file)
    return STUDY.tell(written)


def verdict(section: Section, beginning: str) -> str:
    (claim,) = [one for one in section.claims if one.statement.startswith(beginning)]
    return claim.verdict


def test_laws_as_promised_agree() -> None:
    section = told({})
    assert {one.verdict for one in section.claims} == {"agrees"}
    assert "Theorem 1 shows." in section.found
    assert "Theorem 2 shows." in section.found
    assert "0.500 [0.4" in section.found
    assert "10 of 10 promises show" in section.how_sure


@pytest.mark.parametrize(
    ("changed", "claim", "expected"),
    [
        ({ROOT_HYBRID: STEEP}, "Theorem 1", "differs"),
        ({ROOT_HYBRID: LOGARITHM}, "Theorem 1", "agrees"),
        ({BOUNDED[0]: ROOT}, "Theorem 2", "in part"),
        ({BOUNDED[0]: ROOT, BOUNDED[1]: LINE}, "Theorem 2", "differs"),
        ({NAIVE: ROOT}, "Naively", "differs"),
        ({NAIVE: STEEP}, "Naively", "differs"),
        ({THOMPSON_HYBRID: LINE}, "EXP3 over Thompson", "differs"),
        ({ANNEALED_HYBRID: ROOT, "epsilon-greedy": ROOT}, "Ours", "differs"),
        ({ANNEALED_HYBRID: ROOT}, "Ours", "in part"),
    ],
)
def test_other_laws_are_told_as_they_are(changed: Mapping[str, Law], claim: str, expected: str) -> None:
    assert verdict(told(changed), claim) == expected


def test_a_slow_start_does_not_count() -> None:
    """Where T is small there is nothing to learn from yet, and regret is linear."""
    section = told({ROOT_HYBRID: lambda t: 0.03 * t if t <= 10_000 else 3 * np.sqrt(t)})
    assert verdict(section, "Theorem 1") == "agrees"
    row = next(row for row in section.listings[0].rows if row[1] == ROOT_HYBRID)
    assert row[3].startswith("1.000 [0.9")
    assert row[4].startswith("0.500 [0.4")


def test_sentences_follow_the_numbers() -> None:
    section = told({ROOT_HYBRID: STEEP, BOUNDED[0]: ROOT, NAIVE: ROOT, ANNEALED_HYBRID: ROOT})
    assert "Theorem 1 does not show" in section.found
    assert "Theorem 2 does not show" in section.found
    assert "is not linear everywhere" in section.found
    assert "√T is not ruled out for both" in section.found
    assert "logarithmic all the same" not in section.found
    assert "7 of 10 promises show" in section.how_sure


def test_trials_that_end_on_the_worse_arm_are_told() -> None:
    assert "none of its longest trials" in told({}).found
    section = told({}, stuck=0.0625)
    assert (
        "52 of 832 trials of 10,000 and 16 of 256 trials of 100,000 patients ended on the worse arm" in section.found
    )
    assert "With recycling it was 0 of 832" in section.found
    assert verdict(section, "EXP3 over Thompson") == "in part"


def test_too_few_runs_settle_nothing() -> None:
    section = told({}, relative_error=3.0)
    assert verdict(section, "Theorem 2") == "differs"
    assert verdict(section, "Naively") == "differs"
    (listing,) = section.listings
    assert {row[-1] for row in listing.rows if row[1] == "thompson"} == {"no"}


def test_every_policy_at_every_length() -> None:
    full, quick = STUDY.experiments(False), STUDY.experiments(True)
    assert N_PATIENTS == (100, 316, 1000, 3162, 10_000, 31_623, 100_000, 316_228, 1_000_000)
    met = {
        (policy, one.n_patients)
        for one in full.values()
        for policy in one.policies
        if any(population is CONFOUNDED for population in one.populations)
    }
    assert met == {(policy, t) for policy in PROMISES for t in N_PATIENTS}
    assert all(quick[name].n_runs <= max(2, one.n_runs / 10) for name, one in full.items())
    # 35 s on two cores at about 110 ns a decision.
    assert sum(one.total_patients for one in full.values()) < 6.4e8


@pytest.mark.parametrize("population", [CONFOUNDED, FAINT], ids=lambda one: one.name)
def test_actual_and_comply_prefer_the_worse_arm_however_often_it_is_chosen(population: Any) -> None:
    chosen = population.mean_given_chosen()
    assert chosen[0] > chosen[1] + 0.09
    for q_1 in (0.01, 0.5, 0.99):
        actual, comply = (
            population.mean_given_actual((1 - q_1, q_1)),
            np.diag(population.mean_given_both((1 - q_1, q_1))),
        )
        assert actual[1] > actual[0]
        assert comply[1] > comply[0]


def test_every_figure_can_be_drawn() -> None:
    section = told({}, relative_error=0.7)  # intervals that reach below zero too
    for drawing in section.drawings:
        drawing.draw().canvas.draw()
