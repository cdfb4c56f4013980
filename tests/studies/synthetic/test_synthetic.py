"""The section on rich and poor and on defiers follows its tables."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING

import polars
import pytest

from adhere import simulate
from adhere.populations import rich_and_poor
from adhere.report.section import AGREES, DIFFERS, IN_PART, OURS, Claim
from adhere.studies.framework.words import percent
from adhere.studies.lineup import ALL, EXP3, LEARNERS, MAIN, THOMPSON, UCB1, entry, estimate_in
from adhere.studies.synthetic.study import STUDY, Facts
from studies.sections import check_texts_are_whole, prose
from studies.stand_ins import simulate_stand_ins

if TYPE_CHECKING:
    from adhere.studies.framework.study import Tables

N_PATIENTS, N_RUNS = 60, 8
WORSE = "Actual does much worse"


@cache
def tables() -> Tables:
    (one,) = STUDY.experiments(True).values()
    return STUDY.tables({"all": simulate_stand_ins(one, N_PATIENTS, N_RUNS, seed=3)})


def moved(
    population: str, measure: str, means: dict[str, float], se: float = 0.01, base: Tables | None = None
) -> Tables:
    """The tables with some policies' figures put elsewhere."""
    place = (polars.col("population") == population) & (polars.col("measure") == measure)
    place &= polars.col("policy").is_in(list(means))
    mean = polars.col("policy").replace_strict(means, default=None, return_dtype=polars.Float64)
    values = {"mean": mean, "se": polars.lit(se), "low": mean - 1.96 * se, "high": mean + 1.96 * se}
    changed = [
        polars.when(place).then(value).otherwise(polars.col(name)).alias(name) for name, value in values.items()
    ]
    base = base or tables()
    return {**base, "final": base["final"].with_columns(changed)}


def policies(strategies: Iterable[str]) -> list[str]:
    return [one.policy for one in ALL if one.strategy in strategies]


def as_in_figure_2(**others: float) -> Tables:
    """Actual and Comply at -1, all others at 1, but for some policies."""
    means = {one.policy: 1.0 for one in ALL} | dict.fromkeys(policies(["Actual", "Comply"]), -1.0)
    return moved("rich-and-poor", "surplus", means | others)


def claim(tables: Tables, words: str) -> Claim:
    (one,) = [one for one in STUDY.render(tables).claims if words in one.statement]
    return one


def test_sizes_are_the_papers() -> None:
    (full,), (quick,) = (STUDY.experiments(quick).values() for quick in (False, True))
    assert (full.n_runs, full.n_patients, quick.n_runs, quick.n_patients) == (1000, 10_000, 100, 10_000)
    assert full.populations == ("rich-and-poor", "defiers")
    assert len(set(full.policies)) == 42


def test_tables_hold_every_policy_and_the_main_ones_along_the_trial() -> None:
    final, along = tables()["final"], tables()["along"]
    assert final.filter(measure="surplus").group_by("population").len()["len"].to_list() == [42, 42]
    assert set(along["policy"]) == {one.policy for one in MAIN}
    last = along.filter(population="defiers", policy="thompson", t=N_PATIENTS)
    assert last["mean"].item() == estimate_in(final, population="defiers", policy="thompson", measure="surplus").mean


def test_the_most_that_can_be_gained_is_that_of_the_examples() -> None:
    facts = Facts(tables())
    # Rich 0.75 whatever they are told, poor 0.5 or 0.25: means of 0.625 and 0.5. Defiers: 1 and 0.
    assert facts.best("rich-and-poor") == pytest.approx(0.0625 * N_PATIENTS)
    assert facts.best("defiers") == pytest.approx(0.5 * N_PATIENTS)
    # Two patients at least are needed to learn anything at all.
    assert 1 / N_PATIENTS <= facts.share_lost("defiers", entry(UCB1, "Chosen")).mean < 0.3


@pytest.mark.parametrize("strategy", ["Actual", "Comply"])
def test_figure_2_is_judged_for_each_learner(strategy: str) -> None:
    words = f"{strategy} does much worse"
    agreeing = claim(as_in_figure_2(), words)
    assert agreeing.verdict == AGREES
    assert "Thompson -1.000 [-1.020, -0.980] against 1 or more" in agreeing.ours
    one = claim(as_in_figure_2(**{entry(UCB1, strategy).policy: 2.0}), words)
    assert one.verdict == IN_PART
    assert "holds for EXP3, ε-greedy and Thompson, not for UCB1" in one.ours
    none = claim(as_in_figure_2(**dict.fromkeys(policies([strategy]), 2.0)), words)
    assert (none.verdict, none.ours.rpartition(": ")[2]) == (DIFFERS, "holds for no learner")


@pytest.mark.parametrize("rival", ["Chosen", "HierarchicalBandit", "ThompsonBounded"])
def test_figure_2_needs_every_rival_to_be_better_beyond_chance(rival: str) -> None:
    policy = entry(EXP3, rival).policy
    assert claim(as_in_figure_2(**{policy: 0.02, entry(EXP3, "Actual").policy: 0.005}), WORSE).verdict == IN_PART
    assert claim(as_in_figure_2(**{policy: 0.1, entry(EXP3, "Actual").policy: 0.005}), WORSE).verdict == AGREES


@pytest.mark.parametrize(("surplus", "verdict"), [(0.49, AGREES), (0.51, IN_PART), (0.9, IN_PART)])
def test_much_worse_is_less_than_half(surplus: float, verdict: str) -> None:
    assert claim(as_in_figure_2(**{"ucb1/actual": surplus}), WORSE).verdict == verdict


def test_nothing_is_half_of_a_loss() -> None:
    lossy = as_in_figure_2(**dict.fromkeys(policies(["HierarchicalBandit"]), -0.5))
    assert claim(lossy, WORSE).verdict == DIFFERS


def test_what_the_hierarchy_costs_is_said() -> None:
    assert "below Chosen with no learner" in prose(STUDY.render(as_in_figure_2()))
    one = entry(UCB1, "HierarchicalBandit").policy
    said = prose(STUDY.render(as_in_figure_2(**{one: 0.4})))
    assert "HierarchicalBandit at 0 to 1, below Chosen with UCB1, and" in said
    every = as_in_figure_2(**dict.fromkeys(policies(["HierarchicalBandit"]), 0.4))
    assert "below Chosen with every learner" in prose(STUDY.render(every))


def test_the_spread_of_single_runs_is_said() -> None:
    means = {entry(learner, "Comply").policy: 0.0 for learner in (EXP3, THOMPSON)}
    wide = moved("rich-and-poor", "surplus", means, se=100.0)
    spread = 100 * math.sqrt(N_RUNS)
    assert f"(standard deviation {spread:.0f} with EXP3 and {spread:.0f} with Thompson)" in prose(STUDY.render(wide))


def test_variants_are_judged_too() -> None:
    assert STUDY.render(as_in_figure_2()).uncertainty.endswith("in every variant.")
    variant = entry(THOMPSON, "ThompsonBounded", "literal").policy
    assert STUDY.render(as_in_figure_2(**{variant: -2.0})).uncertainty.endswith("in every variant, but for Thompson.")


def test_losses_on_defiers_are_shares_of_the_most_that_can_be_lost() -> None:
    actual = [entry(learner, "Actual").policy for learner in LEARNERS]
    means = dict.fromkeys(actual, 0.95 * N_PATIENTS)
    one = claim(moved("defiers", "regret", means, se=0.05), "Actual learns to choose the wrong arm")
    assert one.verdict == AGREES
    assert "95.0% [94.8%, 95.2%] (EXP3)" in one.ours
    half = moved("defiers", "regret", means | {"ucb1/actual": 0.5 * N_PATIENTS}, se=0.05)
    assert claim(half, "wrong arm").verdict == IN_PART
    assert "50.0% [49.8%, 50.2%] (UCB1)" in claim(half, "wrong arm").ours
    assert STUDY.render(half).result.endswith("with EXP3, ε-greedy and Thompson.")
    unsure = moved("defiers", "regret", dict.fromkeys(actual, 0.95 * N_PATIENTS), se=3.0)
    assert claim(unsure, "wrong arm").verdict == DIFFERS


@pytest.mark.parametrize("strategy", ["Chosen", "ThompsonBounded"])
def test_those_with_a_guarantee_must_lose_little_on_defiers(strategy: str) -> None:
    little = dict.fromkeys(policies(["Chosen", "ThompsonBounded"]), 1.0)
    surplus = dict.fromkeys(little, 0.5 * N_PATIENTS - 1.0)  # surplus and regret go together
    base = moved("defiers", "surplus", surplus)
    assert claim(moved("defiers", "regret", little, base=base), "lose little").ours.endswith("every learner")
    much = little | {entry(UCB1, strategy).policy: 0.2 * N_PATIENTS}
    one = claim(moved("defiers", "regret", much, base=base), "lose little")
    assert one.verdict == OURS
    assert one.ours.endswith("holds for EXP3, ε-greedy and Thompson, not for UCB1")


def test_what_the_text_explains_is_so() -> None:
    complied = rich_and_poor().mean_given_both().diagonal()
    assert complied[0] == complied[1] == 0.5
    stays = simulate(["ucb1/actual"], ["defiers"], 50, 40, seed=1)[0].regret
    share = stays.mean / 50
    assert 0.2 < share < 0.8
    # The spread of runs that all lose either nothing or everything.
    assert stays.se == pytest.approx(50 * math.sqrt(share * (1 - share) / 39))
    gains, loses = (moved("rich-and-poor", "surplus", {"ucb1/comply": mean}) for mean in (1.0, -1.0))
    assert "evens out" in prose(STUDY.render(gains))
    assert "evens out" not in prose(STUDY.render(loses))


def test_shares_too_small_to_print_are_not_called_nothing() -> None:
    final = tables()["final"].filter(policy="thompson", population="defiers", measure="regret")
    regret = estimate_in(final.with_columns(mean=0.0002, low=0.0001, high=0.0003))
    assert percent(regret) == "<0.1%"
    assert percent(estimate_in(final.with_columns(mean=0.0, low=0.0, high=0.0))) == "0.0%"
    assert percent(estimate_in(final.with_columns(mean=0.02, low=0.0, high=0.04))) == "2.0% [0.0%, 4.0%]"


def test_section_is_whole() -> None:
    section = STUDY.render(tables())
    check_texts_are_whole(section)
    assert f"42 policies, {N_RUNS} runs of {N_PATIENTS} patients" in section.details[0]
    names = [one.name for one in section.figures]
    assert names == ["synthetic-rich-and-poor", "synthetic-defiers", "synthetic-final"]
    assert len(section.listings) == 3  # one for each population, and the texts of the policies
    for listing in section.listings:
        assert listing.folded
        assert {len(row) for row in listing.rows} == {len(listing.header)}
        assert len(listing.rows) == 42
    assert [row[-1] for row in section.listings[-1].rows] == [one.policy for one in ALL]
