"""The policies every study of the paper compares: four learners under five strategies, and the variants of each.

The paper's EXP3 parameter, γ = 0.085, is ten times what its own bound gives for 10,000 patients, likely a slip of a
digit; so EXP3, the hierarchies on EXP3 and ε-greedy and ThompsonBounded on ε-greedy stand beside themselves with
γ = 0.0085.
"""

from __future__ import annotations

from typing import NamedTuple

PAPERS_GAMMA, BOUNDS_GAMMA = 0.085, 0.0085
CHOSEN, ACTUAL, COMPLY = "Chosen", "Actual", "Comply"
HIERARCHICAL, BOUNDED = "HierarchicalBandit", "ThompsonBounded"
STRATEGIES = (CHOSEN, ACTUAL, COMPLY, HIERARCHICAL, BOUNDED)
EXP3, GREEDY, UCB1, THOMPSON = "EXP3", "ε-greedy", "UCB1", "Thompson"
LEARNERS = (EXP3, GREEDY, UCB1, THOMPSON)
_TEXTS = {GREEDY: "epsilon-greedy", UCB1: "ucb1", THOMPSON: "thompson"}

PLAIN, RECYCLING, LITERAL = "", "recycling", "literal"


class Entry(NamedTuple):
    """A policy, and where it stands among the others. γ is that of every EXP3 in it, null if there is none."""

    learner: str
    strategy: str
    variant: str
    gamma: float | None
    policy: str

    @property
    def label(self) -> str:
        """What a chart calls it under the heading of its learner."""
        gamma = f"γ = {self.gamma}" if self.gamma == BOUNDS_GAMMA else ""
        return ", ".join(filter(None, [self.strategy, self.variant, gamma]))


def entry(learner: str, strategy: str, variant: str = PLAIN, gamma: float = PAPERS_GAMMA) -> Entry:
    """The policy of a learner under a strategy.

    >>> entry("Thompson", "Actual").policy
    'thompson/actual'
    >>> entry("ε-greedy", "ThompsonBounded", "recycling").policy
    'thompson-bounded(hierarchical(epsilon-greedy, top=exp3(gamma=0.085)), recycle=true)'
    """
    base = _TEXTS.get(learner, f"exp3(gamma={gamma})")
    extra = {PLAIN: "", RECYCLING: ", recycle=true", LITERAL: ", literal=true"}[variant]
    top = f"top=exp3(gamma={gamma})"
    if strategy == HIERARCHICAL:
        text = f"hierarchical({base}, {top}{extra})"
    elif strategy == BOUNDED:
        text = f"thompson-bounded(hierarchical({base}, {top}){extra})"
    else:
        text = base if strategy == CHOSEN else f"{base}/{strategy.lower()}"
    is_simple = learner != EXP3 and strategy in (CHOSEN, ACTUAL, COMPLY)
    return Entry(learner, strategy, variant, None if is_simple else gamma, text)


MAIN = tuple(entry(learner, strategy) for learner in LEARNERS for strategy in STRATEGIES)


def _variants(learner: str) -> list[Entry]:
    """What else there is of a learner, in the order of a chart."""
    found = [entry(learner, HIERARCHICAL, RECYCLING)]
    found += [entry(learner, BOUNDED, variant) for variant in (LITERAL, RECYCLING)]
    if learner == EXP3:
        found += [entry(learner, strategy, gamma=BOUNDS_GAMMA) for strategy in (CHOSEN, ACTUAL, COMPLY)]
    if learner in (EXP3, GREEDY):
        found += [entry(learner, HIERARCHICAL, variant, BOUNDS_GAMMA) for variant in (PLAIN, RECYCLING)]
    if learner == GREEDY:
        found += [entry(learner, BOUNDED, variant, BOUNDS_GAMMA) for variant in (PLAIN, LITERAL, RECYCLING)]
    return found


_VARIANTS = tuple(one for learner in LEARNERS for one in _variants(learner))
ALL = tuple(sorted(MAIN + _VARIANTS, key=lambda one: LEARNERS.index(one.learner)))

# What stands for each line of the paper's text. That ThompsonBounded recycles was chosen after seeing results.
HEADLINES = (
    entry(THOMPSON, CHOSEN),
    entry(GREEDY, BOUNDED, RECYCLING),
    entry(GREEDY, HIERARCHICAL),
)
# The main policies, and the reading of ThompsonBounded that stands for the paper's line.
SHOWN_ALONG = tuple(sorted((*MAIN, HEADLINES[1]), key=lambda one: LEARNERS.index(one.learner)))
