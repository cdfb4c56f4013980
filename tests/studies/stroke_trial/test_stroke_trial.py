"""The section on the stroke trial follows its tables."""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING

import polars
import pytest

from adhere.report.section import AGREES, DIFFERS, IN_PART, Section
from adhere.studies.lineup import ALL, HEADLINES, THOMPSON, entry
from adhere.studies.stroke_trial.study import HEADLINE_FIGURES, STUDY
from studies.sections import check_texts_are_whole, prose
from studies.stand_ins import simulate_stand_ins

if TYPE_CHECKING:
    from adhere.studies.framework.study import Tables

N_RUNS, N_RUNS_AGAIN = 6, 12


@cache
def tables() -> Tables:
    """A very small run: 6 runs of 50 patients."""
    results = {
        name: simulate_stand_ins(one, 50, n_runs, seed=5)
        for (name, one), n_runs in zip(STUDY.experiments(True).items(), (N_RUNS, N_RUNS_AGAIN), strict=True)
    }
    return STUDY.tables(results)


def moved(policy: str, mean: float, se: float = 0.1) -> Tables:
    """The tables with one policy's pooled surplus put elsewhere."""
    place = (polars.col("policy") == policy) & (polars.col("population") == "pooled")
    place &= polars.col("measure") == "surplus"
    values = {"mean": mean, "se": se, "low": mean - 1.96 * se, "high": mean + 1.96 * se}
    changed = [
        polars.when(place).then(value).otherwise(polars.col(name)).alias(name) for name, value in values.items()
    ]
    return {name: table if name == "along" else table.with_columns(changed) for name, table in tables().items()}


def claim(section: Section, words: str) -> tuple[str, str]:
    (one,) = [one for one in section.claims if words in one.statement]
    return one.verdict, one.ours


def test_sizes_are_the_papers() -> None:
    full, quick = STUDY.experiments(False), STUDY.experiments(True)
    assert (full["all"].n_runs, full["all"].n_patients, full["again"].n_runs) == (2000, 10_000, 20_000)
    assert (quick["all"].n_runs, quick["all"].n_patients, quick["again"].n_runs) == (200, 10_000, 2000)
    assert len(full["all"].policies) == len(ALL)


def test_tables_hold_every_policy_on_both_trials_and_pooled() -> None:
    final = tables()["final"]
    assert final.height == len(ALL) * 3 * 4
    assert final["population"].unique().sort().to_list() == ["pooled", "stroke-aspirin", "stroke-heparin"]
    headline = tables()["headline"].filter(polars.col("measure") == "surplus", polars.col("population") == "pooled")
    assert sorted(headline["n_runs"].to_list()) == [N_RUNS] * 3 + [N_RUNS_AGAIN] * 3
    along = tables()["along"]
    assert along.filter(polars.col("t") == 0)["mean"].unique().to_list() == [0.0]
    assert along["t"].max() == 50


@pytest.mark.parametrize("one", HEADLINES, ids=lambda one: one.policy)
def test_verdict_follows_the_figure(one: object) -> None:
    published, policy = HEADLINE_FIGURES[one], one.policy  # type: ignore[index, attr-defined]
    near, far = moved(policy, published.mean + 0.3), moved(policy, published.mean - 3.0)
    place = list(HEADLINE_FIGURES).index(one)  # type: ignore[arg-type]
    assert STUDY.render(near).claims[place].verdict == AGREES
    assert STUDY.render(far).claims[place].verdict == DIFFERS
    assert f"{published.mean - 3.0:.1f}" in STUDY.render(far).result
    assert "(differs; outside the paper's interval)" in STUDY.render(far).claims[place].ours


@pytest.mark.parametrize("n_agreeing", [0, 1, 2, 3])
def test_the_result_names_those_that_agree(n_agreeing: int) -> None:
    """In one short sentence, with names as they are spelt, whoever agrees."""
    changed = tables()
    for place, (one, published) in enumerate(HEADLINE_FIGURES.items()):
        moved_here = moved(one.policy, published.mean + (0.0 if place < n_agreeing else 5.0))
        changed = {name: _patched(changed[name], moved_here[name], one.policy) for name in changed}
    section = STUDY.render(changed)
    check_texts_are_whole(section)
    beginnings = (
        "No policy matches the paper's figure within chance: ",
        "Only Thompson sampling under Chosen matches the paper's figure ",
        "Only Thompson sampling under Chosen and ThompsonBounded match the paper's figures ",
        "All three policies match the paper's figures within chance: Thompson sampling under Chosen saves 7.9 lives",
    )
    assert section.result.startswith(beginnings[n_agreeing])
    more = ("none agrees", "only Thompson sampling under Chosen agrees", "agree.", "all three agree too")[n_agreeing]
    assert f"In {N_RUNS_AGAIN} runs " in section.uncertainty
    assert more in section.uncertainty


def test_the_result_says_so_where_more_runs_agree_less() -> None:
    changed = tables()
    for one, published in HEADLINE_FIGURES.items():
        near = moved(one.policy, published.mean)
        changed = {name: _patched(changed[name], near[name], one.policy) for name in changed}
    (first, published), *_ = HEADLINE_FIGURES.items()
    in_many = (polars.col("policy") == first.policy) & (polars.col("n_runs") == N_RUNS_AGAIN)
    far = dict.fromkeys(("mean", "low", "high"), published.mean - 5.0)
    headline = changed["headline"].with_columns(
        polars.when(in_many).then(value).otherwise(polars.col(name)).alias(name) for name, value in far.items()
    )
    section = STUDY.render({**changed, "headline": headline})
    check_texts_are_whole(section)
    beginning = (
        f"All three policies match the paper's figures within chance; in {N_RUNS_AGAIN} runs, 2 of the three: "
    )
    assert section.result.startswith(beginning)
    assert [one.verdict for one in section.claims[:3]] == [IN_PART, AGREES, AGREES]
    assert len(section.result.split()) <= 40


def with_difference(policy: str, population: str, mean: float) -> Tables:
    """The tables with one policy's paired difference from Thompson put elsewhere, with an interval of ±0.5."""
    place = (polars.col("policy") == policy) & (polars.col("population") == population)
    place &= polars.col("measure") == "difference"
    values = {"mean": mean, "se": 0.25, "low": mean - 0.5, "high": mean + 0.5}
    changed = [
        polars.when(place).then(value).otherwise(polars.col(name)).alias(name) for name, value in values.items()
    ]
    return {name: table if name == "along" else table.with_columns(changed) for name, table in tables().items()}


@pytest.mark.parametrize(("difference", "expected"), [(-1.0, AGREES), (0.1, IN_PART), (1.0, DIFFERS)])
def test_best_without_compliance_information(difference: float, expected: str) -> None:
    """Judged by the difference, on the same patients, between Thompson and its nearest rival."""
    surpluses = tables()["final"].filter(polars.col("population") == "pooled", polars.col("measure") == "surplus")
    rivals = surpluses.filter(polars.col("policy").is_in(["exp3(gamma=0.085)", "epsilon-greedy", "ucb1"]))
    nearest = rivals.sort("mean")["policy"][-1]
    section = STUDY.render(with_difference(nearest, "pooled", difference))
    assert claim(section, "not compliance aware")[0] == expected


def test_hybrids_gain_over_thompson_in_part_of_the_readings() -> None:
    verdict, ours = claim(STUDY.render(with_difference(HEADLINES[1].policy, "pooled", 3.0)), "outperform")
    assert verdict in (IN_PART, AGREES)
    assert "+3.0" in ours


def test_where_the_gain_is() -> None:
    both = tables()
    for one, mean in ((HEADLINES[1], 9.0), (HEADLINES[2], 8.0)):
        moved_here = with_difference(one.policy, "stroke-aspirin", mean)
        both = {name: _patched(both[name], moved_here[name], one.policy) for name in both}
    assert claim(STUDY.render(both), "Aspirin trial")[0] == AGREES


def _patched(table: polars.DataFrame, other: polars.DataFrame, policy: str) -> polars.DataFrame:
    """One table with the rows of one policy taken from another."""
    return polars.concat([table.filter(polars.col("policy") != policy), other.filter(polars.col("policy") == policy)])


def test_actual_is_compared_with_chosen_and_the_hybrids() -> None:
    best = {**moved(entry(THOMPSON, "Actual").policy, 90.0)}
    greedy = (polars.col("policy") == "epsilon-greedy/actual") & (polars.col("population") == "pooled")
    best["final"] = best["final"].with_columns(mean=polars.when(greedy).then(80.0).otherwise(polars.col("mean")))
    assert claim(STUDY.render(best), "Actual performs better")[0] == AGREES


def test_section_is_whole() -> None:
    section = STUDY.render(tables())
    assert "chosen after seeing results" in section.uncertainty
    assert "Sandercock" in section.credits
    assert len({one.name for one in section.figures}) == len(section.figures) == 6
    check_texts_are_whole(section)
    for text in (prose(section), *(one.ours for one in section.claims)):
        assert "-0.0 " not in text
    (headline, final, texts) = section.listings
    assert len(headline.rows) == 3 * 2 * 2
    assert len(final.rows) == len(texts.rows) == len(ALL)


def test_paired_differences_are_from_thompson() -> None:
    final = tables()["final"].filter(polars.col("population") == "pooled")
    by = {(row["policy"], row["measure"]): row for row in final.to_dicts()}
    for policy in ("thompson/actual", HEADLINES[1].policy):
        difference = by[policy, "surplus"]["mean"] - by["thompson", "surplus"]["mean"]
        assert math.isclose(by[policy, "difference"]["mean"], difference, abs_tol=1e-12)
