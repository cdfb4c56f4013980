from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars
import pytest

from adhere.populations import as_population
from adhere.report.section import Section
from adhere.simulation import Estimate
from adhere.studies.regret_growth.study import (
    ANNEALED_HYBRID,
    CONFOUNDED,
    FAINT,
    HEADLINE,
    N_PATIENTS,
    NAIVE,
    NAMES,
    PROMISES,
    PROVEN,
    RECYCLING,
    ROOT_HYBRID,
    STUDY,
    THOMPSON_HYBRID,
)
from studies.sections import check_texts_are_whole, prose

Growth = Callable[[float], float]

LOGARITHM: Growth = lambda t: 4 + 5 * np.log(t)  # noqa: E731
ROOT: Growth = lambda t: 3 * np.sqrt(t)  # noqa: E731
STEEP: Growth = lambda t: t**0.75  # noqa: E731
LINE: Growth = lambda t: 0.2 * t  # noqa: E731
GROWTHS: dict[str, Growth] = {
    **dict.fromkeys(["thompson", PROVEN, HEADLINE], LOGARITHM),
    **dict.fromkeys(["exp3", ROOT_HYBRID, THOMPSON_HYBRID, RECYCLING], ROOT),
    **dict.fromkeys(["epsilon-greedy", ANNEALED_HYBRID], STEEP),
    NAIVE: LINE,
}


def rendered(changed: Mapping[str, Growth], stuck: float = 0.0, relative_error: float = 0.01) -> Section:
    """The study's section, had regret grown like this, after its tables were written and read."""
    results: dict[str, Any] = {}
    for name, one in STUDY.experiments(False).items():
        outcomes = []
        for population in one.populations:
            for policy in one.policies:
                regret = {**GROWTHS, **changed}[policy](one.n_patients)
                error = relative_error * regret
                wrong = stuck if policy == THOMPSON_HYBRID and population is FAINT else 0.0
                estimate = Estimate(regret, error, regret - 1.96 * error, regret + 1.96 * error)
                outcomes.append(
                    SimpleNamespace(
                        population=as_population(population).name,
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
    return STUDY.render(written)


def verdict(section: Section, beginning: str) -> str:
    (claim,) = [one for one in section.claims if one.statement.startswith(beginning)]
    return claim.verdict


def test_growth_as_promised_agrees() -> None:
    section = rendered({})
    assert [one.verdict for one in section.claims] == ["agrees", "agrees", "ours", "agrees", "agrees", "ours"]
    check_texts_are_whole(section)
    assert "HierarchicalBandit on EXP3 keeps to √T" in section.result
    assert "cannot be told from log T" in section.result
    assert "grows as T to the power of 0.500 on confounded" in prose(section)
    assert "0.500 [0.4" in section.claims[0].ours
    assert "Thompson and ThompsonBounded on confounded only" in prose(section)


@pytest.mark.parametrize(
    ("changed", "claim", "expected"),
    [
        ({ROOT_HYBRID: STEEP}, "Theorem 1", "differs"),
        ({ROOT_HYBRID: LOGARITHM}, "Theorem 1", "agrees"),
        ({PROVEN: ROOT}, "Theorem 2", "differs"),
        ({HEADLINE: ROOT}, "Theorem 2", "agrees"),  # its proof does not cover recycling
        ({NAIVE: ROOT}, "Compliance", "differs"),
        ({NAIVE: STEEP}, "Compliance", "differs"),
        ({THOMPSON_HYBRID: LINE}, "EXP3 over Thompson", "differs"),
        ({ANNEALED_HYBRID: ROOT}, "HierarchicalBandit on ε-greedy", "ours"),
    ],
)
def test_verdicts_follow_the_growth(changed: Mapping[str, Growth], claim: str, expected: str) -> None:
    assert verdict(rendered(changed), claim) == expected


def test_a_slow_start_does_not_count() -> None:
    """Where T is small there is nothing to learn from yet, and regret is linear."""
    section = rendered({ROOT_HYBRID: lambda t: 0.03 * t if t <= 10_000 else 3 * np.sqrt(t)})
    assert verdict(section, "Theorem 1") == "agrees"
    assert "; in shorter trials, to the power of 1.000 on " in prose(section)
    row = next(row for row in section.listings[0].rows if row[-1] == ROOT_HYBRID)
    assert row[0] == "HierarchicalBandit on EXP3"
    assert row[3].startswith("1.000 [0.9")
    assert row[4].startswith("0.500 [0.4")


def test_sentences_follow_the_numbers() -> None:
    section = rendered({ROOT_HYBRID: STEEP, PROVEN: ROOT, NAIVE: ROOT, ANNEALED_HYBRID: ROOT})
    check_texts_are_whole(section)
    assert "HierarchicalBandit on EXP3 grows faster than √T" in section.result
    assert "does not keep to log T" in section.result
    assert "Thompson under Actual does not grow linearly" in section.result
    assert "HierarchicalBandit on ε-greedy may keep to √T" in prose(section)
    assert "√T is not ruled out" in section.claims[-1].ours


def test_a_bend_that_the_runs_could_miss_is_reported() -> None:
    """The last decade may cost as much more as the upper end of the interval, 32 runs being the fewest."""
    (claim,) = [one for one in rendered({}).claims if one.statement.startswith("Theorem 2")]
    points = [LOGARITHM(10.0**power) * 0.01 for power in (4, 5, 6)]
    independent = 1.96 * np.sqrt(points[0] ** 2 + 4 * points[1] ** 2 + points[2] ** 2)
    missed = float(claim.ours.split("32 runs could miss up to ")[1].split(")")[0])
    assert independent < missed < 1.5 * independent


def test_a_promise_shows_in_so_many_runs() -> None:
    rows = {row[-1]: row for row in rendered({}).listings[0].rows if row[1] == "confounded"}
    assert rows["exp3"][6] == "yes, in 8 runs"
    assert rows["thompson"][6] == "yes, in 32 runs"
    assert rows[NAIVE][6] == "–"


def test_the_populations_can_be_built_from_the_listing() -> None:
    rows = [row for row in rendered({}).listings[2].rows if row[0] == FAINT.name]
    assert rows == [
        ["faintly confounded", "always-taker", "0.50", "–", "0.75"],
        ["faintly confounded", "complier", "0.50", "0.50", "0.30"],
    ]


def test_no_two_policies_look_alike_in_a_figure() -> None:
    for figure in rendered({}).figures[:2]:
        _, below = figure.draw().subfigs
        lines = below.legends[0].get_lines()
        assert len({line.get_color() for line in lines}) == len({line.get_marker() for line in lines}) == len(lines)
        assert {text.get_text() for text in below.legends[0].get_texts()} <= set(NAMES.values())


def test_trials_that_end_on_the_worse_arm_are_counted() -> None:
    assert "0 of 832 trials of 10,000 and 0 of 192 trials of 100,000 patients ended" in prose(rendered({}))
    section = rendered({}, stuck=0.0625)
    assert "52 of 832 trials of 10,000 and 12 of 192 trials of 100,000 patients ended on the worse arm" in prose(
        section
    )
    assert "with recycling 0 of 832 trials of 10,000, so" in prose(section)
    assert "with recycling 0" not in prose(rendered({}, stuck=0.004))  # the intervals of 0 and of 3 in 832 overlap
    assert verdict(section, "EXP3 over Thompson") == "in part"


def test_too_few_runs_settle_nothing() -> None:
    section = rendered({}, relative_error=3.0)
    assert verdict(section, "Theorem 2") == "differs"
    assert verdict(section, "Compliance") == "differs"
    assert {row[6] for row in section.listings[0].rows if row[-1] == "thompson"} == {"no, in 32 runs"}


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
    # 23 s on two cores at about 95 ns a decision.
    assert sum(one.total_patients for one in full.values()) < 4.8e8


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
    section = rendered({}, relative_error=0.7)  # intervals that reach below zero too
    for figure in section.all_figures():
        figure.draw().canvas.draw()


def test_exponents_stand_under_what_was_fitted() -> None:
    above, below = rendered({}).figures[2].draw().subfigs
    assert [panel.get_title("left") for panel in above.axes] == ["T from 10² to 10⁴", "T from 10⁴ to 10⁶"]
    labels = [text.get_text() for text in below.legends[0].get_texts()]
    assert labels == ["√T (0.5 ± 0.05)", "T (1 ± 0.05)", "regret does not grow (zero)"]
