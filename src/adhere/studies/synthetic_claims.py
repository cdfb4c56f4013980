"""What the paper says of rich and poor patients and of defiers, and the sentences that say what we find."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from adhere.report.numbers import estimate_texts
from adhere.report.section import AGREES, DIFFERS, IN_PART, Claim
from adhere.simulation import Estimate
from adhere.studies.lineup import (
    ACTUAL,
    ALL,
    BOUNDED,
    CHOSEN,
    COMPLY,
    HIERARCHICAL,
    LEARNERS,
    PAPERS_GAMMA,
    UCB1,
    Entry,
    entry,
)  # fmt: skip
from adhere.studies.outcome_tables import estimate_in

if TYPE_CHECKING:
    import polars

RICH_AND_POOR, DEFIERS = "rich-and-poor", "defiers"
RIVALS = (CHOSEN, HIERARCHICAL, BOUNDED)  # what Figure 2 sets above Actual and Comply
# Of the most that can be lost, against always choosing the best arm.
NEARLY_ALL, ALMOST_NOTHING = 0.9, 0.1


class Figures:
    """The final figures, by population and policy."""

    def __init__(self, final: polars.DataFrame) -> None:
        self._final = final
        self.n_policies = final["policy"].n_unique()
        self.n_patients, self.n_runs = (int(final[name][0]) for name in ("n_patients", "n_runs"))

    def of(self, population: str, one: Entry, measure: str = "surplus") -> Estimate:
        """A measure of a policy after the last patient."""
        return estimate_in(self._final, population=population, policy=one.policy, measure=measure)

    def by_learner(self, population: str, strategy: str) -> dict[str, Estimate]:
        """The final surplus under a strategy, with the paper's γ."""
        return {learner: self.of(population, entry(learner, strategy)) for learner in LEARNERS}

    def best(self, population: str) -> float:
        """The surplus of always choosing the best arm: with two arms, the worst one's is the opposite."""
        one = ALL[0]
        return self.of(population, one).mean + self.of(population, one, "regret").mean

    def share_lost(self, population: str, one: Entry) -> Estimate:
        """Regret as a share of the most that can be lost."""
        regret, most = self.of(population, one, "regret"), 2 * self.best(population)
        mean, se, lo, hi = (None if value is None else value / most for value in vars(regret).values())
        assert mean is not None
        return Estimate(mean, se, lo, hi)


def asked(figures: Figures) -> str:
    """What the study asks."""
    return (
        "Does learning from the arm taken go as wrong as Figure 2 (rich and poor) and Example 1 (defiers) say, and "
        f"do the hybrids keep clear of it? {figures.n_policies} policies, {figures.n_runs:,} runs of "
        f"{figures.n_patients:,} patients."
    )


def found(figures: Figures) -> str:
    """What was found."""
    return (
        f"On rich and poor, where always choosing the better arm gains {figures.best(RICH_AND_POOR):,.0f}, the final "
        f"surplus under Actual runs from {_from_to(figures, ACTUAL)}, under Comply from {_from_to(figures, COMPLY)}, "
        f"under Chosen and the hybrids from {_from_to(figures, *RIVALS)}. Comply sees the same mean reward in both "
        f"arms, so that chance and the learner decide{_why_ucb1_gains(figures)}. On defiers Actual loses "
        f"{_lost_texts(figures, ACTUAL)} of all it can: UCB1 insists on the first arm it tried until that is "
        "credited, which defiers never let happen, and so stays right or wrong by chance. Comply, never credited, "
        f"recommends at random. Chosen loses {_range(figures, CHOSEN)}, ThompsonBounded {_range(figures, BOUNDED)}, "
        f"HierarchicalBandit {_range(figures, HIERARCHICAL)}."
    )


def how_sure(figures: Figures) -> str:
    """How sure we are."""
    return (
        "Brackets are 95% intervals over runs. One policy counts as worse than another if their intervals do not "
        f"overlap, which is safe however the two are correlated. These figures are for γ = {PAPERS_GAMMA}; "
        f"{_variants_text(figures)}."
    )


def claims(figures: Figures) -> list[Claim]:
    """Figure 2 for Actual and for Comply; Example 1 for Actual and for those with a guarantee."""
    return [
        *(_much_worse(figures, strategy) for strategy in (ACTUAL, COMPLY)),
        _loses_all(figures),
        _lose_almost_nothing(figures),
    ]


def _much_worse(figures: Figures, strategy: str) -> Claim:
    worse = _learners_below(figures, strategy)
    surplus = figures.by_learner(RICH_AND_POOR, strategy)
    texts = dict(zip(surplus, estimate_texts(list(surplus.values())), strict=True))
    rivals = {learner: min(one.mean for one in _rivals(figures, learner)) for learner in LEARNERS}
    said = [f"{learner} {texts[learner]} against {rivals[learner]:,.0f} or more" for learner in LEARNERS]
    return Claim(
        f"On rich and poor, {strategy} does much worse than Chosen and the hybrids (Figure 2)",
        "much worse",
        f"Final surplus: {', '.join(said)}; {_holds_for(worse)}",
        _verdict(worse),
    )


def _loses_all(figures: Figures) -> Claim:
    wrong = [learner for learner, one in _lost(figures, ACTUAL).items() if ends(one)[0] > NEARLY_ALL]
    return Claim(
        "On defiers, Actual learns to choose the wrong arm: linear regret (Example 1)",
        "the wrong arm",
        f"Loses {_lost_texts(figures, ACTUAL)} of all it can; more than {NEARLY_ALL:.0%}: {_holds_for(wrong)}",
        _verdict(wrong),
    )


def _lose_almost_nothing(figures: Figures) -> Claim:
    lost = {strategy: _lost(figures, strategy) for strategy in (CHOSEN, BOUNDED)}
    little = [one for one in LEARNERS if all(ends(its[one])[1] < ALMOST_NOTHING for its in lost.values())]
    said = "; ".join(f"{strategy} {_lost_texts(figures, strategy)}" for strategy in lost)
    return Claim(
        "On defiers, Chosen and ThompsonBounded keep their guarantees and lose almost nothing",
        "standard regret bounds hold",
        f"Of all they can lose: {said}; less than {ALMOST_NOTHING:.0%}: {_holds_for(little)}",
        _verdict(little),
    )


def _verdict(learners: Sequence[str]) -> str:
    return AGREES if len(learners) == len(LEARNERS) else IN_PART if learners else DIFFERS


def _holds_for(learners: Sequence[str]) -> str:
    if len(learners) == len(LEARNERS):
        return "holds for every learner"
    others = [learner for learner in LEARNERS if learner not in learners]
    return f"holds for {listed(learners)}, not for {listed(others)}" if learners else "holds for no learner"


def listed(texts: Sequence[str]) -> str:
    """Several things in a sentence.

    >>> listed(["EXP3", "UCB1", "Thompson"])
    'EXP3, UCB1 and Thompson'
    """
    return " and ".join([", ".join(texts[:-1]), texts[-1]] if len(texts) > 1 else texts)


def _learners_below(figures: Figures, strategy: str) -> list[str]:
    """Under which learners a strategy lies below Chosen and both hybrids, all with the paper's γ."""
    surplus = figures.by_learner(RICH_AND_POOR, strategy)
    return [learner for learner in LEARNERS if _is_below(surplus[learner], _rivals(figures, learner))]


def _rivals(figures: Figures, learner: str) -> list[Estimate]:
    return [figures.of(RICH_AND_POOR, entry(learner, rival)) for rival in RIVALS]


def _is_below(one: Estimate, others: Iterable[Estimate]) -> bool:
    """Whether an interval ends before any of the others begins."""
    return all(ends(one)[1] < ends(other)[0] for other in others)


def ends(one: Estimate) -> tuple[float, float]:
    """An interval, or the mean twice where there is none."""
    return (one.mean, one.mean) if one.lo is None or one.hi is None else (one.lo, one.hi)


def _why_ucb1_gains(figures: Figures) -> str:
    """Why UCB1 gains under Comply, if it does."""
    if ends(figures.of(RICH_AND_POOR, entry(UCB1, COMPLY)))[0] <= 0:
        return ""
    return (
        " (UCB1 evens out how often each arm is credited, so recommends the control, which the rich never take, more "
        "often)"
    )


def _variants_text(figures: Figures) -> str:
    """Whether Figure 2's order holds between all variants of a learner, whatever their γ."""
    fails = []
    for learner in LEARNERS:
        mine = [one for one in ALL if one.learner == learner]
        rivals = [figures.of(RICH_AND_POOR, one) for one in mine if one.strategy in RIVALS]
        others = [figures.of(RICH_AND_POOR, one) for one in mine if one.strategy not in RIVALS]
        if not all(_is_below(one, rivals) for one in others):
            fails.append(learner)
    if len(fails) == len(LEARNERS):
        return "with every variant counted, no learner's Actual and Comply are all worse than all of its rivals"
    order = "Actual and Comply are worse than their rivals in every variant (recycling, literal, γ) too"
    return order + (f", but for {listed(fails)}" if fails else "")


def _from_to(figures: Figures, *strategies: str) -> str:
    """The lowest and the highest final surplus, over learners, on rich and poor."""
    entries = [entry(learner, strategy) for strategy in strategies for learner in LEARNERS]
    ranked = sorted(entries, key=lambda one: figures.of(RICH_AND_POOR, one).mean)
    lowest, highest = ranked[0], ranked[-1]
    texts = estimate_texts([figures.of(RICH_AND_POOR, one) for one in (lowest, highest)])
    return f"{texts[0]} ({lowest.learner}) to {texts[1]} ({highest.learner})"


def _lost(figures: Figures, strategy: str) -> dict[str, Estimate]:
    return {learner: figures.share_lost(DEFIERS, entry(learner, strategy)) for learner in LEARNERS}


def _lost_texts(figures: Figures, strategy: str) -> str:
    return listed([f"{percent(one)} ({learner})" for learner, one in _lost(figures, strategy).items()])


def _range(figures: Figures, strategy: str) -> str:
    means = [one.mean for one in _lost(figures, strategy).values()]
    least, most = (_share(value) for value in (min(means), max(means)))
    return least if least == most else f"{least} to {most}"


def percent(one: Estimate) -> str:
    """A share with its interval, where this is wide enough to be seen.

    >>> percent(Estimate(0.495, 0.016, 0.464, 0.526))
    '49.5% [46.4%, 52.6%]'
    >>> percent(Estimate(0.0002, 0.00001, 0.00018, 0.00022))
    '<0.1%'
    """
    mean, lo, hi = map(_share, (one.mean, *ends(one)))
    return mean if lo == hi else f"{mean} [{lo}, {hi}]"


def _share(value: float) -> str:
    return "<0.1%" if 0 < value < 0.0005 else f"{value:.1%}"
