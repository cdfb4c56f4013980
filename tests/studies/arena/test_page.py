"""The arena's page follows its tables."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import polars

from adhere.studies.arena.facts import Facts
from adhere.studies.arena.page import arena_page, study_page
from report.browser import inspect_page
from report.html_reader import Reader
from studies.arena.arena_tables import LABELS, arena_tables
from studies.sections import check_result


@cache
def page_text() -> str:
    return arena_page(arena_tables(), {"Seed": "0"}, "This is a quick run.")


def test_the_page_says_what_the_numbers_say() -> None:
    reader = Reader(page_text())
    (lead,) = reader.texts("p", _class="lead")
    assert lead.startswith(
        "5 policies meet the same patients of 601 populations in 4 families, in trials of 2,000 to"
    )
    assert "This is a quick run." in lead
    results = reader.texts("p", _class="result")
    for result in results:
        check_result(result)
    best, frontier, growth, regrets, time, families = results
    assert best == (
        "On average over families MediatedThompson does best: +0.021 of the best possible surplus above "
        "Thompson, Chosen, from +0.001 (confounded) to +0.050 (unconfounded)."
    )
    assert frontier == (
        "Of those that lose at most 0.01 where it is not so, MediatedThompson gains most, +0.050; "
        "2 of 5 policies are beaten by no other in every figure."
    )
    assert growth.startswith("1 policy of 5 has a worst case that grows like the number of patients where that of")
    assert growth.endswith("Thompson, Chosen does not; MediatedThompson is not among them.")
    assert "against the best recommendation by MediatedThompson (0.018 a patient)" in regrets
    assert "among compliers" not in regrets  # of which nothing is known here
    fastest, slowest = "120 ns (Thompson, Chosen)", "320 ns (HierarchicalBandit on ε-greedy)"
    assert time == f"A decision takes from {fastest} to {slowest}; MediatedThompson takes 210 ns."
    assert families == "On 601 populations in 4 families, drawn from seed 14."


def test_the_default_is_held_against_its_bars() -> None:
    said = " ".join(Reader(page_text()).texts("li"))
    assert (
        "MediatedThompson is beyond chance above Thompson, Chosen in 2 families (unconfounded and mildly-confounded)"
        in said
    )
    assert "and below it in none; wholly below −0.005 in none." in said
    hybrids = "the paper's hybrids (HierarchicalBandit on ε-greedy)"
    everywhere = "in mean in every family; and in the worst 5%, as drawn below, in every family."
    assert f"MediatedThompson is above {hybrids} {everywhere}" in said
    assert "Linear for Thompson, Actual: confounded and mildly-confounded." in said


def test_sentences_change_with_the_numbers() -> None:
    tables = arena_tables()
    lower = polars.when(policy="mediated-thompson", family="confounded")
    names = ("difference", "difference_low", "difference_high", "share", "worst_5_percent_held_out")
    tables["results"] = tables["results"].with_columns(
        lower.then(polars.col(name) - 0.5).otherwise(polars.col(name)).alias(name) for name in names
    )
    (standings, *_) = study_page(Facts(tables)).sections
    assert "MediatedThompson, odds 1 does best: +0.020" in standings.result
    own = polars.col("policy").is_in(["thompson", "hierarchical(epsilon-greedy)"])
    (standings_of_few, *_) = study_page(Facts({**tables, "results": tables["results"].filter(own)})).sections
    assert (
        "nothing beats Thompson, Chosen: HierarchicalBandit on ε-greedy comes nearest, -0.097"
        in standings_of_few.result
    )
    assert "wholly below -0.005 in 1 family (confounded)" in standings.details[0]
    assert standings.details[1].count("in every family, but for HierarchicalBandit on ε-greedy in confounded") == 2


def test_a_policy_that_plays_on_few_families_is_not_best_on_average() -> None:
    tables = arena_tables()
    elsewhere = (polars.col("policy") == "mediated-thompson(odds=1)") & (polars.col("family") != "unconfounded")
    tables["results"] = tables["results"].filter(~elsewhere)
    standings, *_ = sections = study_page(Facts(tables)).sections
    assert "MediatedThompson does best: +0.021" in standings.result
    assert "; of 13 cells about 1 would be marked" in standings.uncertainty
    (regrets,) = [one for one in sections if one.name == "regrets"]
    assert "odds 1" not in regrets.result


def test_short_trials_say_nothing_of_growth() -> None:
    (growth,) = [one for one in study_page(Facts(arena_tables(longest=10_000))).sections if one.name == "growth"]
    assert growth.result == "Trials of up to 10,000 patients are too short to say whose worst case grows for ever."
    assert not growth.details


def test_what_the_tables_do_not_hold_is_left_out() -> None:
    tables = arena_tables()
    few = {name: tables[name].clear() for name in ("frontier", "curves", "left_out")}
    own = polars.col("policy").is_in(["thompson", "thompson/actual"])
    results = tables["results"].filter(own, n_patients=2000).drop_nulls("worst")
    names = [one.name for one in study_page(Facts({**tables, **few, "results": results})).sections]
    assert names == ["standings", "regrets", "time", "families"]
    surplus = {"surplus": 10.0, "surplus_low": 9.0, "surplus_high": 12.0}
    optimum = results.with_columns(
        fraction_of_optimum=polars.lit(0.5), **{k: polars.lit(v) for k, v in surplus.items()}
    )
    sections = study_page(Facts({**tables, **few, "results": optimum})).sections
    assert [one.name for one in sections] == ["standings", "regrets", "optimum", "time", "families"]
    panel: Any = sections[2].figures[0].draw().subfigs[0].axes[0]
    ends = [[tuple(end) for end in bar] for bars in panel.collections for bar in bars.get_segments()]
    assert {(round(left, 9), round(right, 9)) for (left, _), (right, _) in ends} == {
        (0.0, 1.0),
        (0.45, 0.6),
    }  # guides and intervals
    standings, *_ = study_page(Facts({**tables, **few, "results": results.filter(policy="thompson")})).sections
    assert standings.result == "Thompson, Chosen played alone: there is nothing to compare it with."
    assert not standings.figures


def test_every_number_is_in_a_table() -> None:
    reader = Reader(page_text())
    cells = set(reader.texts("td")) | set(reader.texts("th"))
    assert {"+0.050 [+0.046, +0.054]", "−0.550", "40.0%", "0.99", "too long"} <= cells
    assert set(LABELS) <= cells


def test_page_opens_without_fault_on_a_phone(tmp_path: Path) -> None:
    path = tmp_path / "arena.html"
    path.write_text(page_text(), encoding="utf-8")
    facts = inspect_page(path, 390)
    assert facts.faults() == []
    assert [one.alternative.partition(":")[0] for one in facts.figures] == [
        *("Coloured table", "Coloured table", "Points with intervals both ways", "Points with intervals both ways"),
        *("Curves on logarithmic axes", "Dots with intervals", "Dots with ranges"),
    ]
