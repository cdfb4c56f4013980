"""The paper's claims on rich and poor patients and on defiers, and sentences on what the study found."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from adhere.report.numbers import estimate_texts
from adhere.report.section import OURS, Claim, verdict_on
from adhere.simulation import Estimate
from adhere.studies.framework.words import ends, listed, percent, share
from adhere.studies.lineup.entries import (
    ACTUAL,
    ALL,
    BOUNDED,
    BOUNDS_GAMMA,
    CHOSEN,
    COMPLY,
    HIERARCHICAL,
    LEARNERS,
    PAPERS_GAMMA,
    STRATEGIES,
    UCB1,
    Entry,
    entry,
)  # fmt: skip
from adhere.studies.synthetic.experiments import DEFIERS, RICH_AND_POOR
from adhere.studies.synthetic.tables import Facts

RIVALS = (CHOSEN, HIERARCHICAL, BOUNDED)  # what Figure 2 sets above Actual and Comply
HALF = 0.5  # of the rivals' surplus: the paper gives no size
NEARLY_ALL, LITTLE = 0.9, 0.1  # of the most that can be lost, against always choosing the best arm


def question(facts: Facts) -> str:
    """The question of the study."""
    return (
        "Does learning from the arm taken go as wrong as the paper says, on rich and poor (Figure 2) and on defiers "
        "(Example 1), and do the hybrids avoid it?"
    )


def result(facts: Facts) -> str:
    """The result."""
    actual, bounded = (_from_to(facts, [entry(one, its) for one in LEARNERS]) for its in (ACTUAL, BOUNDED))
    return (
        f"On rich and poor Actual ends at {actual} surplus rewards, depending on the learner, and {BOUNDED} at "
        f"{bounded}; on defiers Actual loses over {NEARLY_ALL:.0%} of what can be lost "
        f"{_with(_nearly_all_lost(facts))}."
    )


def uncertainty(facts: Facts) -> str:
    """The uncertainty of the result."""
    return (
        "Worse means that 95% intervals over runs do not overlap; much worse, that the surplus is also less than "
        f"half of the lowest rival's (our rule). Single runs of Comply on rich and poor spread widely (standard "
        f"deviation {_spread(facts)}). {_variants_text(facts)}."
    )


def details(facts: Facts) -> list[str]:
    """How it was done, and what else was found."""
    at = {one: _from_to(facts, [entry(learner, one) for learner in LEARNERS]) for one in STRATEGIES}
    slower = [one for one in ALL if one.strategy == HIERARCHICAL and one.gamma == BOUNDS_GAMMA]
    return [
        f"{facts.n_policies} policies, {facts.n_runs:,} runs of {facts.n_patients:,} patients; γ = {PAPERS_GAMMA} "
        "unless said otherwise. On rich and poor, the rich take the treatment whatever is recommended, and "
        "do well anyway; the poor comply, and it harms them.",
        f"On rich and poor, always recommending the better arm gains {facts.best(RICH_AND_POOR):,.0f}. By learner, "
        f"Chosen ends at {at[CHOSEN]}; {HIERARCHICAL} at {at[HIERARCHICAL]}, below Chosen "
        f"{_with(_below_chosen(facts))}, and with γ = {BOUNDS_GAMMA} at {_from_to(facts, slower)}.",
        f"Comply ends at {at[COMPLY]}. It sees the same mean reward in both arms, so that chance and the learner "
        f"decide{_why_ucb1_gains(facts)}.",
        f"On defiers Chosen loses {_range(facts, CHOSEN)} of all it can, {BOUNDED} {_range(facts, BOUNDED)} and "
        f"{HIERARCHICAL} {_range(facts, HIERARCHICAL)}. UCB1 under Actual insists on the first arm it tried until "
        "that is credited, which defiers never let happen, and so stays right or wrong by chance.",
    ]


def make_claims(facts: Facts) -> list[Claim]:
    """Figure 2 for Actual and for Comply; Example 1 for Actual and for those with a guarantee."""
    return [
        *(_much_worse(facts, strategy) for strategy in (ACTUAL, COMPLY)),
        _loses_all(facts),
        _lose_little(facts),
    ]


def _much_worse(facts: Facts, strategy: str) -> Claim:
    surplus = [facts.of(RICH_AND_POOR, entry(learner, strategy)) for learner in LEARNERS]
    much, said = [], []
    for learner, one, text in zip(LEARNERS, surplus, estimate_texts(surplus), strict=True):
        rivals = [facts.of(RICH_AND_POOR, entry(learner, rival)) for rival in RIVALS]
        lowest = min(rival.mean for rival in rivals)
        said.append(f"{learner} {text} against {lowest:,.0f} or more")
        if _is_below(one, rivals) and one.mean < HALF * lowest and lowest > 0:
            much.append(learner)
    return Claim(
        f"On rich and poor, {strategy} does much worse than Chosen and the hybrids (Figure 2)",
        "“much worse than Chosen and the hybrid algorithms”",
        f"Final surplus: {', '.join(said)}; less than half of the lowest: {_holds_for(much)}",
        verdict_on([learner in much for learner in LEARNERS]),
    )


def _loses_all(facts: Facts) -> Claim:
    wrong = _nearly_all_lost(facts)
    return Claim(
        "On defiers, Actual learns to choose the wrong arm (Example 1)",
        "“Actual has linear regret”; “The best move in hindsight is the opposite”",
        f"Loses {_lost_texts(facts, ACTUAL)} of all it can; more than {NEARLY_ALL:.0%} (our threshold): "
        f"{_holds_for(wrong)}",
        verdict_on([learner in wrong for learner in LEARNERS]),
    )


def _lose_little(facts: Facts) -> Claim:
    lost = {strategy: _lost(facts, strategy) for strategy in (CHOSEN, BOUNDED)}
    little = [one for one in LEARNERS if all(ends(its[one])[1] < LITTLE for its in lost.values())]
    said = "; ".join(f"{strategy} {_lost_texts(facts, strategy)}" for strategy in lost)
    return Claim(
        f"On defiers, Chosen and ThompsonBounded lose little (less than {LITTLE:.0%}, our threshold) of what can be "
        "lost",
        "nothing said of defiers; Proposition 1 and Theorem 2 bound regret",
        f"Of all they can lose: {said}; {_holds_for(little)}",
        OURS,
    )


def _nearly_all_lost(facts: Facts) -> list[str]:
    """The learners that lose nearly all on defiers, under Actual."""
    return [learner for learner, one in _lost(facts, ACTUAL).items() if ends(one)[0] > NEARLY_ALL]


def _with(learners: Sequence[str]) -> str:
    return f"with {'every learner' if len(learners) == len(LEARNERS) else listed(learners) or 'no learner'}"


def _holds_for(learners: Sequence[str]) -> str:
    if len(learners) == len(LEARNERS):
        return "holds for every learner"
    others = [learner for learner in LEARNERS if learner not in learners]
    return f"holds for {listed(learners)}, not for {listed(others)}" if learners else "holds for no learner"


def _is_below(one: Estimate, others: Iterable[Estimate]) -> bool:
    """Whether an interval ends before any of the others begins."""
    return all(ends(one)[1] < ends(other)[0] for other in others)


def _why_ucb1_gains(facts: Facts) -> str:
    """Why UCB1 gains under Comply, if it does."""
    if ends(facts.of(RICH_AND_POOR, entry(UCB1, COMPLY)))[0] <= 0:
        return ""
    return " (UCB1 evens out how often arms are credited, so recommends the control, never taken by the rich, more)"


def _below_chosen(facts: Facts) -> list[str]:
    """The learners on which the hierarchy ends below the learner alone."""
    pairs = {one: [facts.of(RICH_AND_POOR, entry(one, its)) for its in (HIERARCHICAL, CHOSEN)] for one in LEARNERS}
    return [learner for learner, (mine, chosen) in pairs.items() if _is_below(mine, [chosen])]


def _variants_text(facts: Facts) -> str:
    """Whether Figure 2's order holds between all variants of a learner, whatever their γ."""
    fails = []
    for learner in LEARNERS:
        mine = [one for one in ALL if one.learner == learner]
        rivals = [facts.of(RICH_AND_POOR, one) for one in mine if one.strategy in RIVALS]
        others = [facts.of(RICH_AND_POOR, one) for one in mine if one.strategy not in RIVALS]
        if not all(_is_below(one, rivals) for one in others):
            fails.append(learner)
    if len(fails) == len(LEARNERS):
        return "With every variant counted, no learner's Actual and Comply are all worse than all their rivals"
    order = "Actual and Comply are worse than their rivals in every variant"
    return order + (f", but for {listed(fails)}" if fails else "")


def _from_to(facts: Facts, entries: Sequence[Entry]) -> str:
    """The lowest and the highest final surplus on rich and poor."""
    means = [facts.of(RICH_AND_POOR, one).mean for one in entries]
    return f"{min(means):,.0f} to {max(means):,.0f}"


def _spread(facts: Facts) -> str:
    """How far single runs of Comply lie apart, with the two learners where that is farthest."""
    errors = {learner: facts.of(RICH_AND_POOR, entry(learner, COMPLY)).se or 0.0 for learner in LEARNERS}
    widest = sorted(LEARNERS, key=lambda learner: -errors[learner])[:2]
    return listed([f"{errors[learner] * math.sqrt(facts.n_runs):,.0f} with {learner}" for learner in widest])


def _lost(facts: Facts, strategy: str) -> dict[str, Estimate]:
    return {learner: facts.share_lost(DEFIERS, entry(learner, strategy)) for learner in LEARNERS}


def _lost_texts(facts: Facts, strategy: str) -> str:
    return listed([f"{percent(one)} ({learner})" for learner, one in _lost(facts, strategy).items()])


def _range(facts: Facts, strategy: str) -> str:
    means = [one.mean for one in _lost(facts, strategy).values()]
    least, most = (share(value) for value in (min(means), max(means)))
    return least if least == most else f"{least} to {most}"
