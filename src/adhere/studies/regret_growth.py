"""Theorems 1 and 2: how regret grows with the number of patients, from a hundred to a million."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from adhere.report.numbers import estimate_texts
from adhere.report.section import AGREES, DIFFERS, IN_PART, Claim, Section
from adhere.simulation import Estimate
from adhere.studies.growth_exhibits import drawings, listings
from adhere.studies.growth_tables import (
    ANNEALED_HYBRID,
    BOUNDED,
    CONFOUNDED,
    DEFIERS,
    FAINT,
    LATE,
    N_PATIENTS,
    NAIVE,
    RECYCLING,
    ROOT_HYBRID,
    THOMPSON_HYBRID,
    experiments,
    tables,
)
from adhere.studies.slopes import FASTER, LINEAR, LOGARITHMIC, ROOT, TOLERANCE, exponent
from adhere.studies.study import Study

if TYPE_CHECKING:
    from adhere.studies.study import Tables


class _Told:
    """The tables, looked up by population and policy."""

    def __init__(self, tables: Tables) -> None:
        self.regret, self.growth, self.stuck = tables["regret"], tables["growth"], tables["stuck"]
        self.gaps = {row["population"]: row for row in tables["gaps"].to_dicts()}
        self.n_promised = self.growth["shows"].is_not_null().sum()
        self.n_shown = self.growth["shows"].sum()

    def rows(self, *policies: str) -> list[dict[str, Any]]:
        return self.growth.filter(self.growth["policy"].is_in(policies)).to_dicts()

    def orders(self, *policies: str) -> set[str]:
        """What the policies' regret grows like, on all populations."""
        return {row["order"] for row in self.rows(*policies)}

    def powers(self, *policies: str) -> str:
        """The exponents of one policy on each population, or of several policies."""
        rows = self.rows(*policies)
        names = [row["population" if len(policies) == 1 else "policy"] for row in rows]
        on = "on " if len(policies) == 1 else ""
        return _listed([f"{text} {on}{name}" for text, name in zip(_texts(rows, "late"), names, strict=True)])

    def costs(self, decade: str, *policies: str) -> str:
        return _listed(_texts(self.rows(*policies), decade))

    def n_stuck(self, policy: str = THOMPSON_HYBRID) -> int:
        """How many of its longest trials ended on the worse arm."""
        return int(self.stuck.filter(policy=policy)["ended_wrong"][-1])

    def stuck_text(self, policy: str = THOMPSON_HYBRID) -> str:
        rows = self.stuck.filter(policy=policy).to_dicts()
        return _listed([f"{one['ended_wrong']} of {one['runs']:,} trials of {one['patients']:,}" for one in rows])


def _texts(rows: Sequence[Mapping[str, Any]], name: str) -> list[str]:
    return estimate_texts([Estimate(row[name], None, row[f"{name}_lo"], row[f"{name}_hi"]) for row in rows])


def _listed(texts: Sequence[str]) -> str:
    return " and ".join([", ".join(texts[:-1]), texts[-1]] if len(texts) > 1 else texts)


def tell(tables: Tables) -> Section:
    """Which guarantees show."""
    told = _Told(tables)
    confounded, defiers = told.gaps[CONFOUNDED.name], told.gaps[DEFIERS.name]
    return Section(
        name=STUDY.name,
        title=STUDY.title,
        asked=(
            "Theorem 1 promises the hierarchy on EXP3 a regret of O(√T), Theorem 2 promises ThompsonBounded O(log "
            "T); compliance information used naively is said to lose sublinear regret. Does this show from "
            f"{N_PATIENTS[0]:,} to {N_PATIENTS[-1]:,} patients? On the population “{CONFOUNDED.name}” the treatment "
            f"is the worse arm by {confounded['chosen']:.2f}, but looks better to Actual by "
            f"{-confounded['actual']:.2f} and to Comply by {-confounded['comply']:.2f}, so that a hybrid must do "
            f"well against bad advice; on “{DEFIERS.name}” (Example 1) the arms differ by {defiers['chosen']:.0f} "
            "and Actual sees the opposite."
        ),
        found=" ".join([_hierarchy(told), _bounded(told), _naive(told), _annealed(told), _thompson_hybrid(told)]),
        how_sure=_how_sure(told),
        claims=_claims(told),
        drawings=drawings(
            told.regret, told.growth, {name: told.gaps[name]["chosen"] for name in (CONFOUNDED.name, DEFIERS.name)}
        ),
        listings=listings(told.growth),
    )


def _hierarchy(told: _Told) -> str:
    verdict = "shows" if _at_most_root(told, ROOT_HYBRID) else "does not show"
    return (
        f"From {LATE[0]:,} to {LATE[1]:,} patients the regret of {ROOT_HYBRID} grows as T to the power of "
        f"{told.powers(ROOT_HYBRID)}, where √T has 0.5: Theorem 1 {verdict}."
    )


def _bounded(told: _Told) -> str:
    straight = told.orders(*BOUNDED) == {LOGARITHMIC}
    verdict = (
        "as straight against log T as we can tell: Theorem 2 shows" if straight else "so Theorem 2 does not show"
    )
    return (
        f"The exponents of {_listed(BOUNDED)} are {_listed(_texts(told.rows(*BOUNDED), 'late'))}; the last decade of "
        f"T cost them {told.costs('last_decade', *BOUNDED)}, the one before "
        f"{told.costs('decade_before_last', *BOUNDED)}, {verdict}."
    )


def _naive(told: _Told) -> str:
    is_linear = told.orders(NAIVE) == {LINEAR}
    verdict = "is linear" if is_linear else "is not linear everywhere"
    return (
        f"The regret of {NAIVE}, which only looks at what was taken, {verdict}: its exponent is {told.powers(NAIVE)}."
    )


def _annealed(told: _Told) -> str:
    too_fast = _too_fast(told.orders("epsilon-greedy", ANNEALED_HYBRID))
    bounded = told.orders(BOUNDED[0]) == {LOGARITHMIC}
    text = (
        f"Annealed ε-greedy explores about T/ln T times, which has the exponent {_exponent_of_annealing():.2f} here. "
        f"It shows {told.powers('epsilon-greedy')}, and the hierarchy on it {told.powers(ANNEALED_HYBRID)}: "
        + ("neither is O(√T), nor does the paper promise it." if too_fast else "√T is not ruled out for both.")
    )
    return text + (" ThompsonBounded around that hierarchy is logarithmic all the same." if bounded else "")


def _thompson_hybrid(told: _Told) -> str:
    text = f"The hierarchy on Thompson sampling has {told.powers(THOMPSON_HYBRID)}"
    faint = told.gaps[FAINT.name]["chosen"]
    where = f"where the arms differ by only {faint:.2f} (“{FAINT.name}”)"
    if not told.n_stuck():
        return f"{text}; {where}, none of its longest trials ended on the worse arm."
    text += (
        f". But {where}, {told.stuck_text()} patients ended on the worse arm; were that share not to fall further, "
        "regret would become linear."
    )
    if told.n_stuck(RECYCLING) < told.n_stuck():
        text += (
            f" With recycling it was {told.stuck_text(RECYCLING)}, so the likely cause is the weight 1/p of "
            "Algorithm 5, which recycling does without: a few heavy rewards make the sampler too sure of one arm to "
            "try the other."
        )
    return text


def _how_sure(told: _Told) -> str:
    counts = told.regret["runs"].to_list()
    widest = max((row[f"{w}_hi"] - row[f"{w}_lo"]) / 2 for row in told.growth.to_dicts() for w in ("early", "late"))
    return (
        f"Every T was simulated anew, with {max(counts):,} runs (the shortest trials) to {min(counts):,} (the "
        f"longest); {told.n_shown} of {told.n_promised} promises show. An exponent is the least-squares slope of log "
        "regret against log T over five half-decades. Its 95% interval follows from the Monte Carlo errors of the "
        "points by the delta method, widened as if runs with patients in common had all their luck in common; the "
        f"widest is ±{widest:.3f}. We say log T where the interval lies below 0.5 and the last decade does not "
        f"surely cost more than the one before, √T up to {0.5 + TOLERANCE:.2f}, T above {1 - TOLERANCE:.2f}. No "
        "finite T proves a limit, and a bound for all populations can only be illustrated on two."
    )


def _at_most_root(told: _Told, policy: str) -> bool:
    return told.orders(policy) <= {LOGARITHMIC, ROOT}


def _too_fast(orders: set[str]) -> bool:
    return orders <= {FASTER, LINEAR}


def _exponent_of_annealing() -> float:
    t = np.array([one for one in N_PATIENTS if LATE[0] <= one <= LATE[1]])
    return exponent(t.tolist(), t / np.log(t), np.zeros(len(t)), [1] * len(t)).mean


def _claims(told: _Told) -> list[Claim]:
    annealed = ("epsilon-greedy", ANNEALED_HYBRID)
    sublinear = all(row["shows"] for row in told.rows(THOMPSON_HYBRID))
    return [
        Claim(
            "Theorem 1: the hierarchy on EXP3 has regret O(√T)",
            "exponent at most 0.5",
            told.powers(ROOT_HYBRID),
            AGREES if _at_most_root(told, ROOT_HYBRID) else DIFFERS,
        ),
        Claim(
            "Theorem 2: ThompsonBounded has regret O(log T)",
            "each decade costs the same",
            f"the last decades cost {told.costs('decade_before_last', *BOUNDED)}, then "
            f"{told.costs('last_decade', *BOUNDED)}; exponents {_listed(_texts(told.rows(*BOUNDED), 'late'))}",
            _verdict([row["order"] == LOGARITHMIC for row in told.rows(*BOUNDED)]),
        ),
        Claim(
            "Naively incorporating compliance loses sublinear regret (abstract; Example 1)",
            "linear regret",
            f"exponent of {NAIVE} {told.powers(NAIVE)}",
            _verdict([row["order"] == LINEAR for row in told.rows(NAIVE)]),
        ),
        Claim(
            "EXP3 over Thompson sampling is no-regret too (after Theorem 1)",
            "no regret, at no stated rate",
            f"{told.powers(THOMPSON_HYBRID)}; with a faint gap, {told.stuck_text()} patients ended on the worse arm",
            DIFFERS if not sublinear else IN_PART if told.n_stuck() else AGREES,
        ),
        Claim(
            "Ours: hybrids on annealed ε-greedy are not O(√T)",
            "guarantees stated for EXP3 and Thompson sampling only",
            f"exponent of {ANNEALED_HYBRID} {told.powers(ANNEALED_HYBRID)}",
            _verdict([_too_fast({row["order"]}) for row in told.rows(*annealed)]),
        ),
    ]


def _verdict(agreeing: Sequence[bool]) -> str:
    return AGREES if all(agreeing) else IN_PART if any(agreeing) else DIFFERS


STUDY = Study("regret-growth", "Regret growth (Theorems 1 and 2)", experiments, tables, tell)
