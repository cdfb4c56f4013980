"""Policies in plain words for New trial; `adhere policies` and the API describe them as their papers do."""

from __future__ import annotations

from typing import Final

from adhere_client.responses.simulations import PolicyDetails

_WORDS: Final = {
    "always": "Recommends the same arm to everybody; a baseline for simulations.",
    "base-thompson": "On its own the same as thompson; it is made for use inside hierarchical.",
    "bayes-optimal": "Plans ahead for a known, small number of patients and two arms: the best expected outcome.",
    "epsilon-greedy": "Recommends the arm that has done best so far, and now and then an arm at random.",
    "exp3": "Shifts its weights towards arms that did well, and assumes nothing about how outcomes come about.",
    "gittins": "Recommends the arm that is worth most, counting what can still be learned about it.",
    "hac-ucb": "Believes what was taken until the outcomes contradict it; from then on, what was recommended.",
    "hierarchical": "Runs several policies and learns which of them to ask.",
    "hierarchical-exp3": "Learns at once which arms do well and what to believe: recommended, taken, or both.",
    "kl-ucb": "Like ucb1, with a narrower range of what is possible for each arm, so that it decides sooner.",
    "mediated-thompson": "Like thompson, and uses what people took as far as the data do not speak against it.",
    "thompson": "Recommends an arm as often as it is likely to be the best.",
    "thompson-bounded": "Follows thompson where it is sure, and another policy where it is not.",
    "top-two-thompson": "Tells the best arm from the next best one: keeps comparing the two that lead.",
    "ucb1": "Recommends the arm that could still be the best: the optimistic end of what is known of each arm.",
    "uniform": "Recommends every arm equally often, whatever was seen.",
}


def in_plain_words(policy: PolicyDetails) -> str:
    """One plain sentence about a policy; its own summary if it is a policy of your own."""
    return _WORDS.get(policy.name, policy.summary)
