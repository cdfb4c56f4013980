"""The claims of Theorems 1 and 2 and around them, and sentences on what the study found."""

from __future__ import annotations

from adhere.report.section import AGREES, DIFFERS, IN_PART, OURS, Claim, verdict_on
from adhere.studies.regret_growth.experiments import (
    ANNEALED_HYBRID,
    CONFOUNDED,
    DEFIERS,
    FAINT,
    HEADLINE,
    N_PATIENTS,
    NAIVE,
    NAMES,
    PROVEN,
    RECYCLING,
    ROOT_HYBRID,
    THOMPSON_HYBRID,
)
from adhere.studies.regret_growth.slopes import FASTER, LINEAR, LOGARITHMIC, ROOT
from adhere.studies.regret_growth.tables import LATE, Facts


def question(facts: Facts) -> str:
    """The question of the study."""
    return (
        "Does regret grow no faster than the theorems promise where compliance misleads: √T for "
        f"{NAMES[ROOT_HYBRID]} (Theorem 1), log T for ThompsonBounded (Theorem 2)?"
    )


def result(facts: Facts) -> str:
    """The result."""
    root = "keeps to √T" if _at_most_root(facts) else "grows faster than √T"
    bounded = "cannot be told from log T" if facts.orders(PROVEN) == {LOGARITHMIC} else "does not keep to log T"
    naive = "grows linearly" if facts.orders(NAIVE) == {LINEAR} else "does not grow linearly"
    return (
        f"From {LATE[0]:,} to {LATE[1]:,} patients, the regret of {NAMES[ROOT_HYBRID]} {root}, that of "
        f"{NAMES[PROVEN]} {bounded}, and that of {NAMES[NAIVE]} {naive}."
    )


def details(facts: Facts) -> list[str]:
    """How it was done, and what else was found."""
    return [
        f"Trials of {N_PATIENTS[0]:,} to {N_PATIENTS[-1]:,} patients on “{CONFOUNDED.name}”, where the worse arm "
        f"looks better to Actual and Comply, and on “{DEFIERS.name}” (Example 1); Thompson and ThompsonBounded on "
        f"{CONFOUNDED.name} only.",
        _hierarchy(facts),
        _bounded(facts),
        _others(facts),
        _thompson_hybrid(facts),
    ]


def _hierarchy(facts: Facts) -> str:
    text = (
        f"From {LATE[0]:,} patients on, the regret of {NAMES[ROOT_HYBRID]} grows as T to the power of "
        f"{facts.powers(ROOT_HYBRID, intervals=False)}"
    )
    steepest = max(facts.rows(ROOT_HYBRID), key=lambda row: row["early"])
    if _at_most_root(facts) and steepest["early"] > steepest["late_high"]:
        text += f"; in shorter trials, to the power of {steepest['early']:.3f} on {steepest['population']}"
    return text + "."


def _bounded(facts: Facts) -> str:
    return (
        "Regret of order log T costs the same in each decade of T. The last decade's cost minus that of the one "
        f"before is {facts.text(PROVEN, 'bend', intervals=False)} rewards for {NAMES[PROVEN]}, and "
        f"{facts.missed(PROVEN)}. With recycling, which the proof of Theorem 2 does not cover, it is "
        f"{facts.text(HEADLINE, 'bend', intervals=False)}."
    )


def _others(facts: Facts) -> str:
    too_fast = "does not keep" if _too_fast(facts) else "may keep"
    return (
        f"{NAMES[ANNEALED_HYBRID]} {too_fast} to √T: annealed ε-greedy explores T/ln T times, and the exponent of T "
        f"is {facts.powers(ANNEALED_HYBRID, intervals=False)}."
    )


def _thompson_hybrid(facts: Facts) -> str:
    n_runs = facts.rows(THOMPSON_HYBRID)[0]["runs_of_longest"]
    text = (
        f"The exponent of {NAMES[THOMPSON_HYBRID]} is {facts.powers(THOMPSON_HYBRID, intervals=False)}, but {n_runs} "
        f"runs of the longest trials cannot see rare failures: with a gap of {facts.gaps[FAINT.name]:.2f} between "
        f"the arms (“{FAINT.name}”), {facts.stuck_text()} patients ended on the worse arm"
    )
    if facts.recycling_helps():
        text += (
            f"; with recycling {facts.stuck_text(RECYCLING)}, so the weight 1/p of Algorithm 5 is the likely cause"
        )
    return text + "."


def uncertainty(facts: Facts) -> str:
    """The uncertainty of the result."""
    counts = facts.regret["n_runs"].to_list()
    widest = max(
        (row[f"{w}_high"] - row[f"{w}_low"]) / 2 for row in facts.growth.to_dicts() for w in ("early", "late")
    )
    proven = facts.rows(PROVEN)[0]["runs_of_longest"]
    more_often = f"; ThompsonBounded {proven:,} times" if proven > min(counts) else ""
    return (
        f"No finite T proves a limit. Every T was run anew, {max(counts):,} times (the shortest) to {min(counts):,} "
        f"times (the longest{more_often}). 95% intervals use Student's t and treat runs that share patients as fully "
        f"correlated: cautious for exponents (±{widest:.3f} at most), but lenient to a straight line in log T."
    )


def _at_most_root(facts: Facts) -> bool:
    return facts.orders(ROOT_HYBRID) <= {LOGARITHMIC, ROOT}


def _too_fast(facts: Facts) -> bool:
    return facts.orders(ANNEALED_HYBRID) <= {FASTER, LINEAR}


def make_claims(facts: Facts) -> list[Claim]:
    """The theorems, the remarks around them, and two findings of our own."""
    sublinear = all(row["shows"] for row in facts.rows(THOMPSON_HYBRID))
    return [
        Claim(
            f"Theorem 1: {NAMES[ROOT_HYBRID]} has regret O(√T)",
            "“O(√T)” against Actual and Comply, “O(√(Tk log k))” against individual treatments",
            f"from {LATE[0]:,} patients on, the exponent of T is {facts.powers(ROOT_HYBRID)}",
            AGREES if _at_most_root(facts) else DIFFERS,
        ),
        Claim(
            "Theorem 2: ThompsonBounded has regret O(log T)",
            "“grows as log(T)”, that is, each decade of T costs the same",
            f"on ε-greedy, the last decade's cost minus that of the one before: {facts.text(PROVEN, 'bend')} rewards "
            f"({facts.missed(PROVEN)}); exponent {facts.powers(PROVEN)}",
            AGREES if facts.orders(PROVEN) == {LOGARITHMIC} else DIFFERS,
        ),
        Claim(
            "ThompsonBounded with recycling, as the stroke study's headline has it",
            "the proof of Theorem 2 does not cover it",
            f"the last decade's cost minus that of the one before: {facts.text(HEADLINE, 'bend')} rewards "
            f"({facts.missed(HEADLINE)}); exponent {facts.powers(HEADLINE)}",
            OURS,
        ),
        Claim(
            "Compliance information used naively leads to linear regret (Example 1, conclusions)",
            "“naively incorporating compliance information leads to algorithms with linear regret”; the abstract: "
            "“loses guarantees on sublinear regret”",
            f"exponent of {NAMES[NAIVE]} {facts.powers(NAIVE)}",
            verdict_on([row["order"] == LINEAR for row in facts.rows(NAIVE)]),
        ),
        Claim(
            "EXP3 over Thompson sampling is no-regret (after Theorem 1)",
            "“also yields a no-regret algorithm”",
            f"exponent {facts.powers(THOMPSON_HYBRID)}, in {facts.rows(THOMPSON_HYBRID)[0]['runs_of_longest']} runs "
            f"of the longest trials; where arms differ little, {facts.stuck_text()} patients ended on the worse arm",
            DIFFERS if not sublinear else IN_PART if facts.n_stuck() else AGREES,
        ),
        Claim(
            f"{NAMES[ANNEALED_HYBRID]}, which has the paper's best surplus on the stroke data, is not O(√T)",
            "guarantees are stated for EXP3 and Thompson sampling only",
            f"exponent {facts.powers(ANNEALED_HYBRID)}" + ("" if _too_fast(facts) else ": √T is not ruled out"),
            OURS,
        ),
    ]
