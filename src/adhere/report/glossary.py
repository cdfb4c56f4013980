"""The words a reader of the report needs, each explained once and linked from the texts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markupsafe import Markup

GLOSSARY = {
    "arm": "One of the options that can be recommended: a treatment, or none.",
    "protocol": "The rule by which a learner credits a reward to an arm: Chosen, Actual or Comply.",
    "Chosen": "Credit the arm recommended, whatever was taken; as in an intention-to-treat analysis.",
    "Actual": "Credit the arm taken; as in an as-treated analysis. No guarantee: whoever takes an arm may differ "
    "from whoever does not.",
    "Comply": "Credit the arm recommended if it was also taken, and otherwise none; as in a per-protocol analysis. "
    "No guarantee.",
    "surplus": "Expected reward above uniform randomisation over the arms, summed over the patients of a trial. "
    "Realised surplus counts the rewards that occurred instead.",
    "regret": "Expected reward lost against always recommending the best arm, summed over the patients of a trial.",
    "learner": "A bandit algorithm that learns from credited rewards: Thompson (sampling), UCB1, ε-greedy or EXP3.",
    "γ": "EXP3’s share of random choices. The paper uses 0.085; its own bound gives about 0.0085.",
    "hybrid": "A policy that combines learners under several protocols: HierarchicalBandit, ThompsonBounded.",
    "expert": "A learner inside a hybrid.",
    "HierarchicalBandit": "Algorithm 1: EXP3 draws, for each patient, one of three experts (the same learner under "
    "Chosen, Actual and Comply) and follows it.",
    "ThompsonBounded": "Algorithm 2: follows Thompson sampling under Chosen where two of its samples agree, and a "
    "HierarchicalBandit where they do not.",
    "MediatedThompson": "Thompson sampling that lets all who took an arm speak for it, whatever they were told, as "
    "far as the data do not speak against that.",
    "odds": "How much likelier MediatedThompson holds it, beforehand, that the reward depends on the arm taken "
    "alone.",
    "floor": "A guard around a policy: each arm keeps a least probability.",
    "Gittins index": "What an arm is worth on its own, given how many patients are to come; the arm with the highest "
    "is recommended.",
    "optimum": "What the best of all policies gains on average over populations drawn at random, computed exactly.",
    "certified": "The part of a hybrid whose guarantee the whole inherits: it runs under Chosen.",
    "recycling": "The certified part also learns from stored outcomes of rounds it did not decide.",
    "policy": "A rule that recommends an arm to each patient: a learner under a protocol, or a hybrid.",
    "population": "What answers a recommendation with the arm taken and a reward; real counts, or strata made up.",
    "defiers": "Patients who take the opposite of what is recommended; compliers take it, always-takers take the "
    "treatment and never-takers the control whatever is recommended.",
    "run": "One simulated trial. Run number r of every policy meets the same patients, so differences are paired.",
    "95% interval": "Mean ± 1.96 standard errors over runs, unless said otherwise: how precisely the simulation "
    "determines a mean, not how patients or single trials differ.",
}


def anchor(word: str) -> str:
    """The name of a word's place in the page.

    >>> anchor("95% interval")
    'word-95-interval'
    """
    return "word-" + re.sub(r"\W+", "-", word.replace("γ", "gamma")).lower()


class Linker:
    """Links words to the glossary, each the first time it comes.

    >>> print(Linker()("Actual has more regret than Chosen"))
    <a class="word" href="#word-actual">Actual</a> has more <a class="word" href="#word-regret">regret</a> than <a \
class="word" href="#word-chosen">Chosen</a>
    """

    def __init__(self, glossary: Mapping[str, str] = GLOSSARY) -> None:
        self._linked: set[str] = set()
        # A word or its plural, but no part of another word or term ("treatment policy") or of a policy's text.
        any_of_them = "|".join(sorted(map(re.escape, glossary), key=len, reverse=True))
        self._word = re.compile(rf"(?<![\w-])(?<!treatment )({any_of_them})s?(?![\w(/-])")

    def __call__(self, markup: str) -> Markup:
        """The markup, which has no other tags than `wbr` and `span`, with links in it."""
        from markupsafe import Markup

        return Markup(self._word.sub(self._link, str(markup)))

    def _link(self, found: re.Match[str]) -> str:
        word = found[1]
        if word in self._linked:
            return found[0]
        self._linked.add(word)
        return f'<a class="word" href="#{anchor(word)}">{found[0]}</a>'
