"""The policies that are set beside the paper's."""

from __future__ import annotations

from typing import NamedTuple

from adhere.studies.lineup.entries import HEADLINES

PAPERS, MEDIATED, GUARDED, PEERS, OPTIMAL = (
    "the paper's",
    "what was taken, while nothing refutes it",
    "the same, guarded",
    "peers",
    "optimal for so many patients",
)


class Entry(NamedTuple):
    """A policy, what the section calls it, and the heading it stands under."""

    group: str
    label: str
    policy: str


_INNER = "mediated-thompson"
THOMPSON, BOUNDED, HIERARCHICAL = (
    Entry(PAPERS, label, one.policy)
    for label, one in zip(
        ("Thompson under Chosen", "ThompsonBounded, recycling", "HierarchicalBandit on ε-greedy"),
        HEADLINES,
        strict=True,
    )
)
DEFAULT = Entry(MEDIATED, "MediatedThompson", _INNER)
EVEN = Entry(MEDIATED, "MediatedThompson, odds 1", f"{_INNER}(odds=1)")
CERTAIN = Entry(MEDIATED, "MediatedThompson, odds ∞", f"{_INNER}(odds=inf)")
BOUNDED_DEFAULT = Entry(GUARDED, "ThompsonBounded on MediatedThompson", f"thompson-bounded({_INNER})")
FLOOR = Entry(GUARDED, "floor of 10% on MediatedThompson", f"floor({_INNER}, share=0.1)")
HAC_UCB = Entry(PEERS, "HAC-UCB", "hac-ucb")
GITTINS = Entry(OPTIMAL, "Gittins index", "gittins")
OPTIMAL_CHOSEN = Entry(OPTIMAL, "optimal on arms chosen", "bayes-optimal")
OPTIMUM = Entry(OPTIMAL, "optimum", "bayes-optimal(prior=uniform-other)")

HYBRIDS = (BOUNDED, HIERARCHICAL)
ANY_HORIZON = (THOMPSON, *HYBRIDS, DEFAULT, EVEN, CERTAIN, BOUNDED_DEFAULT, FLOOR, HAC_UCB)
SMALL = (*ANY_HORIZON, GITTINS, OPTIMAL_CHOSEN, OPTIMUM)
