"""Theorems 1 and 2: how regret grows with the number of patients, from a hundred to a million."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from adhere.report.numbers import estimate_texts
from adhere.report.proportions import interval_in
from adhere.report.section import AGREES, DIFFERS, IN_PART, OURS, Claim, Section
from adhere.simulation import Estimate
from adhere.studies.growth_exhibits import drawings, listings
from adhere.studies.growth_tables import (
    ANNEALED_HYBRID,
    CONFOUNDED,
    DEFIERS,
    FAINT,
    HEADLINE,
    LATE,
    N_PATIENTS,
    NAIVE,
    NAMES,
    PROVEN,
    RECYCLING,
    ROOT_HYBRID,
    THOMPSON_HYBRID,
    experiments,
    tables,
)
from adhere.studies.slopes import FASTER, LINEAR, LOGARITHMIC, ROOT
from adhere.studies.study import Study
from adhere.studies.wording import listed

if TYPE_CHECKING:
    from adhere.studies.study import Tables


class _Told:
    """The tables, looked up by population and policy."""

    def __init__(self, tables: Tables) -> None:
        self.regret, self.growth, self.stuck = tables["regret"], tables["growth"], tables["stuck"]
        self.populations = tables["populations"]
        self.gaps = {row["population"]: row["chosen"] for row in tables["gaps"].to_dicts()}

    def rows(self, policy: str) -> list[dict[str, Any]]:
        return self.growth.filter(policy=policy).to_dicts()

    def orders(self, policy: str) -> set[str]:
        """What the policy's regret grows like, on all populations."""
        return {row["order"] for row in self.rows(policy)}

    def powers(self, policy: str, intervals: bool = True) -> str:
        """The exponents of a policy on each population it was run on."""
        rows = self.rows(policy)
        texts = zip(_texts(rows, "late", intervals), rows, strict=True)
        return listed([f"{text} on {row['population']}" for text, row in texts])

    def power(self, policy: str) -> str:
        """The exponent of a policy that was run on one population."""
        return _texts(self.rows(policy), "late")[0]

    def bend(self, policy: str) -> str:
        """How much more the last decade of T cost than the one before."""
        return _texts(self.rows(policy), "bend")[0]

    def missed(self, policy: str) -> str:
        """How much more it could cost and still pass for a straight line."""
        (row,) = self.rows(policy)
        return f"{row['runs_of_longest']} runs could miss {row['bend_hi']:.0f}"

    def n_stuck(self) -> int:
        """How many trials of the hierarchy on Thompson ended on the worse arm."""
        return int(self.stuck.filter(policy=THOMPSON_HYBRID)["ended_wrong"].sum())

    def stuck_text(self, policy: str = THOMPSON_HYBRID) -> str:
        rows = self.stuck.filter(policy=policy).to_dicts()
        return listed([f"{one['ended_wrong']} of {one['runs']:,} trials of {one['patients']:,}" for one in rows])

    def recycling_helps(self) -> bool:
        """Whether, of trials of one length, surely fewer ended on the worse arm."""
        (with_it,) = self.stuck.filter(policy=RECYCLING).to_dicts()
        (without,) = self.stuck.filter(policy=THOMPSON_HYBRID, patients=with_it["patients"]).to_dicts()
        return interval_in(with_it, "share").hi < interval_in(without, "share").lo


def _texts(rows: Sequence[Mapping[str, Any]], name: str, intervals: bool = True) -> list[str]:
    estimates = [Estimate(row[name], None, row[f"{name}_lo"], row[f"{name}_hi"]) for row in rows]
    return estimate_texts(estimates, intervals=intervals)


def tell(tables: Tables) -> Section:
    """Which guarantees show."""
    told = _Told(tables)
    return Section(
        name=STUDY.name,
        title=STUDY.title,
        asked=(
            f"Theorem 1 promises {NAMES[ROOT_HYBRID]} a regret of O(√T), Theorem 2 ThompsonBounded O(log T). Does "
            f"this show from {N_PATIENTS[0]:,} to {N_PATIENTS[-1]:,} patients where compliance misleads: on "
            f"“{CONFOUNDED.name}”, where the worse arm looks better to Actual and Comply, and on “{DEFIERS.name}” "
            "(Example 1)?"
        ),
        found=" ".join([_hierarchy(told), _bounded(told), _others(told), _thompson_hybrid(told)]),
        how_sure=_how_sure(told),
        claims=_claims(told),
        drawings=drawings(
            told.regret, told.growth, {name: told.gaps[name] for name in (CONFOUNDED.name, DEFIERS.name)}
        ),
        listings=listings(told.growth, told.populations),
    )


def _hierarchy(told: _Told) -> str:
    verdict = "shows" if _at_most_root(told) else "does not show"
    text = (
        f"From {LATE[0]:,} patients on, the regret of {NAMES[ROOT_HYBRID]} grows as T to the power of "
        f"{told.powers(ROOT_HYBRID)}: Theorem 1 {verdict}"
    )
    steepest = max(told.rows(ROOT_HYBRID), key=lambda row: row["early"])
    if _at_most_root(told) and steepest["early"] > steepest["late_hi"]:
        text += f", but only there; below, it is {_texts([steepest], 'early')[0]} on {steepest['population']}"
    return text + "."


def _bounded(told: _Told) -> str:
    straight = told.orders(PROVEN) == {LOGARITHMIC}
    verdict = (
        f"not told from a straight line in log T, though {told.missed(PROVEN)}" if straight else "it is not O(log T)"
    )
    return (
        f"{NAMES[PROVEN]} has the power {told.power(PROVEN)}, and its last decade of T cost {told.bend(PROVEN)} "
        f"rewards more than the one before: {verdict}. With recycling, which the proof of Theorem 2 does not cover, "
        f"it is {told.power(HEADLINE)}, and {told.bend(HEADLINE)} more."
    )


def _others(told: _Told) -> str:
    linear = "is" if told.orders(NAIVE) == {LINEAR} else "is not"
    too_fast = "does not keep" if _too_fast(told) else "may keep"
    return (
        f"{NAMES[NAIVE]} {linear} linear. {NAMES[ANNEALED_HYBRID]} {too_fast} to √T "
        f"({told.powers(ANNEALED_HYBRID, intervals=False)}), for annealing explores T/ln T times."
    )


def _thompson_hybrid(told: _Told) -> str:
    n_runs = told.rows(THOMPSON_HYBRID)[0]["runs_of_longest"]
    text = (
        f"{NAMES[THOMPSON_HYBRID]} has {told.powers(THOMPSON_HYBRID, intervals=False)}, but {n_runs} runs of the "
        f"longest trials cannot see rare failures: with a gap of {told.gaps[FAINT.name]:.2f} between the arms "
        f"(“{FAINT.name}”), {told.stuck_text()} patients ended on the worse arm"
    )
    if told.recycling_helps():
        text += f"; with recycling {told.stuck_text(RECYCLING)}, so the weight 1/p of Algorithm 5 is the likely cause"
    return text + "."


def _how_sure(told: _Told) -> str:
    counts = told.regret["runs"].to_list()
    widest = max((row[f"{w}_hi"] - row[f"{w}_lo"]) / 2 for row in told.growth.to_dicts() for w in ("early", "late"))
    return (
        f"Every T was run anew, {max(counts):,} times (the shortest) to {min(counts):,} times (the longest); "
        f"Thompson and ThompsonBounded on {CONFOUNDED.name} only. Intervals of 95% use Student's t, as if runs with "
        f"patients in common had all their luck in common: cautious for exponents (±{widest:.3f} at most), but "
        "lenient to a straight line in log T. No finite T proves a limit."
    )


def _at_most_root(told: _Told) -> bool:
    return told.orders(ROOT_HYBRID) <= {LOGARITHMIC, ROOT}


def _too_fast(told: _Told) -> bool:
    return told.orders(ANNEALED_HYBRID) <= {FASTER, LINEAR}


def _claims(told: _Told) -> list[Claim]:
    sublinear = all(row["shows"] for row in told.rows(THOMPSON_HYBRID))
    return [
        Claim(
            f"Theorem 1: {NAMES[ROOT_HYBRID]} has regret O(√T)",
            "“O(√T)” against Actual and Comply, “O(√(Tk log k))” against individual treatments",
            f"from {LATE[0]:,} patients on, the exponent of T is {told.powers(ROOT_HYBRID)}",
            AGREES if _at_most_root(told) else DIFFERS,
        ),
        Claim(
            "Theorem 2: ThompsonBounded has regret O(log T)",
            "“grows as log(T)”, that is, each decade of T costs the same",
            f"on ε-greedy, the last decade cost {told.bend(PROVEN)} rewards more than the one before "
            f"({told.missed(PROVEN)}); exponent {told.powers(PROVEN)}",
            AGREES if told.orders(PROVEN) == {LOGARITHMIC} else DIFFERS,
        ),
        Claim(
            "ThompsonBounded with recycling, as the stroke study's headline has it",
            "the proof of Theorem 2 does not cover it",
            f"the last decade cost {told.bend(HEADLINE)} rewards more than the one before ({told.missed(HEADLINE)}); "
            f"exponent {told.powers(HEADLINE)}",
            OURS,
        ),
        Claim(
            "Compliance information used naively leads to linear regret (Example 1, conclusions)",
            "“naively incorporating compliance information leads to algorithms with linear regret”; the abstract: "
            "“loses guarantees on sublinear regret”",
            f"exponent of {NAMES[NAIVE]} {told.powers(NAIVE)}",
            _verdict([row["order"] == LINEAR for row in told.rows(NAIVE)]),
        ),
        Claim(
            "EXP3 over Thompson sampling is no-regret (after Theorem 1)",
            "“also yields a no-regret algorithm”",
            f"exponent {told.powers(THOMPSON_HYBRID)}, in {told.rows(THOMPSON_HYBRID)[0]['runs_of_longest']} runs of "
            f"the longest trials; where arms differ little, {told.stuck_text()} patients ended on the worse arm",
            DIFFERS if not sublinear else IN_PART if told.n_stuck() else AGREES,
        ),
        Claim(
            f"{NAMES[ANNEALED_HYBRID]}, which has the paper's best surplus on the stroke data, is not O(√T)",
            "guarantees are stated for EXP3 and Thompson sampling only",
            f"exponent {told.powers(ANNEALED_HYBRID)}" + ("" if _too_fast(told) else ": √T is not ruled out"),
            OURS,
        ),
    ]


def _verdict(agreeing: Sequence[bool]) -> str:
    return AGREES if all(agreeing) else IN_PART if any(agreeing) else DIFFERS


STUDY = Study("regret-growth", "Regret growth (Theorems 1 and 2)", experiments, tables, tell)
