"""What the page says in words, every number of it from the tables."""

from __future__ import annotations

from typing import Any

import polars

from adhere.report.numbers import counted
from adhere.studies.coverage.adaptive_trials import DELAY
from adhere.studies.coverage.facts import Facts, n_holding
from adhere.studies.coverage.judgements import Judgement, where
from adhere.studies.coverage.tables import ADAPTIVE_DESIGN, FIXED_DESIGN
from adhere.studies.coverage.tally import FAILS, LEAST_COVERAGE, MAX_MISSES, OPEN
from adhere.studies.framework.words import listed

_NAMED = 3  # failures that a sentence holds
FIXED_UNCERTAINTY = (
    "Each share is over the trials of one cell and has a Monte Carlo interval. An interval holds if it covered in at "
    f"least {LEAST_COVERAGE:.0%} of the trials of every cell; it fails where chance does not explain fewer, and is "
    "open in between."
)
ADAPTIVE_UNCERTAINTY = (
    f"A sequence holds if it ever missed in at most {MAX_MISSES:.0%} of the trials of every cell; it fails where "
    f"the lower 99% limit of that share is above {MAX_MISSES:.0%}, and is open in between, where chance may explain "
    "it. Limits of bounds and worst-case bounds are judged so at the end of the trial alone. Their promise is a "
    "bound: they may miss far less often."
)
TESTS_UNCERTAINTY = (
    f"Each share has a Monte Carlo interval. A test holds if it raised false alarms in at most {MAX_MISSES:.0%} of "
    f"the trials of every cell, fails where the lower 99% limit is above {MAX_MISSES:.0%}, and is open in between. "
    "A test that never alarms keeps its promise too: see its power."
)


def lead(facts: Facts) -> str:
    """What the page is."""
    fixed, adaptive = facts.n_trials(FIXED_DESIGN), facts.n_trials(ADAPTIVE_DESIGN)
    return (
        f"{counted(fixed, 'fixed trial')} and {counted(adaptive, 'adaptive trial')} were drawn from populations "
        "whose truth is known, and analysed as “adhere analyse” does. Every interval that is offered as valid is "
        f"held against its bar: {n_holding(facts.judgements)} of {len(facts.judgements)} bars hold."
    )


def fixed_question(facts: Facts) -> str:
    """The question of fixed designs."""
    sizes = listed([f"{patients // 2:,}" for patients in facts.fixed["n_patients"].unique().sort()])
    n = facts.fixed["population"].n_unique()
    return (
        f"Do 95% intervals cover in at least {LEAST_COVERAGE:.0%} of trials with {sizes} patients an arm, in "
        f"{counted(n, 'population')}?"
    )


def fixed_result(facts: Facts) -> str:
    """How many hold, and which do not."""
    return _result(facts.judged(FIXED_DESIGN), "kinds of interval", "cover often enough in every population")


def adaptive_question(facts: Facts) -> str:
    """The question of adaptive designs."""
    n_policies, patients = facts.adaptive["policy"].n_unique(), max(facts.adaptive["n_patients"].to_list())
    return (
        f"Do confidence sequences hold at all times of trials of {patients} patients under {n_policies} adaptive "
        f"policies, when outcomes come {DELAY} patients late and some never do?"
    )


def adaptive_result(facts: Facts) -> str:
    """How many hold, and which do not."""
    return _result(facts.judged(ADAPTIVE_DESIGN), "kinds of interval", "hold at the promised rate under every policy")


def tests_result(facts: Facts) -> str:
    """How many raise few false alarms."""
    judged = [one for design in (FIXED_DESIGN, ADAPTIVE_DESIGN) for one in facts.judged(design, tests=True)]
    return _result(judged, "tests", f"raise false alarms in at most {MAX_MISSES:.0%} of trials")


def _result(judgements: list[Judgement], things: str, do: str) -> str:
    failing = [one.what for one in judgements if one.verdict == FAILS]
    n_open = sum(one.verdict == OPEN for one in judgements)
    text = f"{n_holding(judgements)} of {len(judgements)} {things} {do}"
    if failing:
        more = f" and {len(failing) - _NAMED} more" if len(failing) > _NAMED else ""
        text += f"; failing: {', '.join(failing[:_NAMED])}{more}"
    return text + (f"; {n_open} open." if n_open else ".")


def fixed_details(facts: Facts) -> list[str]:
    """How it was done, and what fails beside those that hold."""
    said = [
        "Patients are randomised in permuted blocks: just half of each group get each arm. A trial is drawn as "
        "counts, and analysed as a file of these counts would be.",
        "As-treated and per-protocol are held against the average effect of taking the treatment, which they are "
        "often read as.",
    ]
    return said + _beside(facts, FIXED_DESIGN)


def adaptive_details(facts: Facts) -> list[str]:
    """How wide sequences are, and what fails beside them."""
    said = []
    for (view,), rows in facts.sequences.group_by("view", maintain_order=True):
        floored = polars.col("policy").str.starts_with("floor")
        texts = []
        for name, some in (("with a floor", rows.filter(floored)), ("without", rows.filter(~floored))):
            widths = some["median_width"].drop_nulls().to_list()
            if widths:
                texts.append(f"{min(widths):.2f} to {max(widths):.2f} {name}")
        least = rows.sort("coverage").row(0, named=True)
        said.append(
            f"Confidence sequences for {view} ever miss in {1 - least['coverage']:.1%} of trials at most, in "
            f"{where(least)}; their median widths at the end are {', '.join(texts)}."
        )
    return said + _beside(facts, ADAPTIVE_DESIGN)


def _beside(facts: Facts, design: str) -> list[str]:
    """What promises nothing here, and how badly it does."""
    said = []
    for (view, method), rows in facts.beside(design).group_by("view", "method", maintain_order=True):
        least, method = rows.sort("coverage").row(0, named=True), str(method).partition(" (")[0]
        said.append(
            f"Beside them, {view} by {method} covers in {least['coverage']:.1%} at worst, in {where(least)}, and in "
            f"fewer than {LEAST_COVERAGE:.0%} in {_fraction(rows, LEAST_COVERAGE)}."
        )
    return said


def _fraction(rows: polars.DataFrame, bar: float) -> str:
    return f"{(rows['coverage'] < bar).sum()} of {counted(len(rows), 'cell')}"


def tests_details(facts: Facts) -> list[str]:
    """The range of every test over the cells, where its hypothesis is true and where it is not."""
    said = []
    for (design, test), rows in facts.tests.filter(polars.col("n_trials") > 0).group_by(
        "design", "test", maintain_order=True
    ):
        texts = [
            f"{_range(some)} where its hypothesis is {word}"
            for word, some in (("true", rows.filter(polars.col("true"))), ("false", rows.filter(~polars.col("true"))))
            if len(some)
        ]
        said.append(f"{str(design).capitalize()} designs, {test}: rejects in {', '.join(texts)}.")
    return said


def _range(rows: polars.DataFrame) -> str:
    low, high = min(rows["rate"].to_list()), max(rows["rate"].to_list())
    return f"{low:.1%}" if low == high else f"{low:.1%} to {high:.1%}"


def weak_result(facts: Facts) -> str:
    """What is left of an interval where next to nobody complies."""
    rows = facts.weak.filter(polars.col("n_patients") == polars.col("n_patients").min())
    texts = []
    for (method,), some in rows.group_by("method", maintain_order=True):
        shares, unbounded = some["coverage"].to_list(), some["unbounded"].to_list()
        texts.append(
            f"{method.partition(' (')[0]} covers in {min(shares):.1%} at least, {max(unbounded):.0%} unbounded"
        )
    return f"With {rows['n_patients'][0] // 2} patients an arm: {'; '.join(texts)}."


def weak_details(facts: Facts) -> list[str]:
    """The same for every population and size, and why."""
    return [
        *(_weak_sentence(one) for one in facts.weak.to_dicts()),
        "An unbounded set is the honest answer: where the recommendation may have changed nothing, the data allow "
        "any effect on those whom it changed. An interval that is always bounded cannot be valid then: it may still "
        "cover, by being wide, but misses where who takes the treatment differs from who does not.",
    ]


def _weak_sentence(one: dict[str, Any]) -> str:
    method = one["method"].partition(" (")[0]
    width = "unbounded" if one["median_width"] is None else f"{one['median_width']:.2f}"
    return (
        f"“{one['population']}”, {one['n_patients'] // 2:,} an arm, {method}: covers in {one['coverage']:.1%}; "
        f"median width {width}; {one['unbounded']:.1%} are unbounded."
    )


def numbers_result(facts: Facts) -> str:
    """What is in the tables."""
    n_rows = counted(len(facts.intervals), "row")
    return f"{n_rows} of intervals and {len(facts.tests):,} of tests, also in the folder data."
