"""Policies to choose from: a short list, each with a description."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from adhere.errors import InputError, nearest

MAX_POLICIES: Final = 6


class Choice(NamedTuple):
    """Policy with a short name for charts and a description."""

    policy: str
    title: str
    about: str


CHOICES: Final = (
    Choice(
        "thompson", "Thompson, Chosen", "Thompson sampling that credits the arm recommended (intention-to-treat)."
    ),
    Choice("thompson/actual", "Thompson, Actual", "Thompson sampling that credits the arm taken (as-treated)."),
    Choice(
        "thompson/comply",
        "Thompson, Comply",
        "Thompson sampling that learns only from those who took what was recommended (per-protocol).",
    ),
    Choice(
        "thompson-bounded(hierarchical(thompson))",
        "ThompsonBounded",
        "The paper's safe hybrid: a hierarchy of all three decides only while Thompson on Chosen is unsure.",
    ),
    Choice(
        "hierarchical(thompson)",
        "Hierarchical",
        "The paper's other hybrid: EXP3 learns which of the three protocols to believe.",
    ),
    Choice(
        "mediated-thompson",
        "Mediated Thompson",
        "Thompson sampling that weighs whether what was taken alone decides the outcome.",
    ),
    Choice("ucb1", "UCB1, Chosen", "The arm with the highest upper confidence bound, crediting the arm recommended."),
    Choice("ucb1/actual", "UCB1, Actual", "The same, crediting the arm taken."),
    Choice(
        "epsilon-greedy",
        "ε-greedy, Chosen",
        "The best arm so far, or with a falling probability a random one, crediting the arm recommended.",
    ),
    Choice("uniform", "Randomisation", "Every arm with the same probability, whatever happens."),
)
DEFAULT: Final = ("thompson", "thompson/actual", "thompson-bounded(hierarchical(thompson))")
TITLES: Final = {choice.policy: choice.title for choice in CHOICES}


def check_policies(policies: Sequence[str]) -> tuple[str, ...]:
    """Check a selection of policies, and return it in the order of the list, so that colours are stable."""
    for policy in policies:
        if policy not in TITLES:
            raise InputError("policies", policy, nearest(policy, TITLES))
        if policies.count(policy) > 1:
            raise InputError("policies", policy, "each of them once", f"policies: {policy!r} is listed twice")
    if not 1 <= len(policies) <= MAX_POLICIES:
        expected = f"1 to {MAX_POLICIES} policies"
        raise InputError("policies", len(policies), expected, f"policies: {len(policies)} given; expected {expected}")
    return tuple(policy for policy in TITLES if policy in policies)
