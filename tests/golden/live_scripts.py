"""Live trials in memory: fixed scripts of recommendations and of feedback that is late, partial and out of order."""

from __future__ import annotations

from typing import Any

from adhere import Trial
from contract.policies_under_test import variants
from contract.populations_under_test import GRADED

from .digests import fingerprint

N_RECOMMENDATIONS, HORIZON, SEED = 48, 60, 12
ARMS = ("arm a", "arm b", "arm c")


def feedback(recommendation: int, n_arms: int) -> list[tuple[int, dict[str, Any]]]:
    """When what is reported of a recommendation: (after how many further recommendations, what)."""
    reward: dict[str, Any] = {"reward": GRADED[(recommendation * 7 // 3) % 3]}
    actual: dict[str, Any] = {"actual": ARMS[(recommendation * 5 // 4) % n_arms]}
    nothing, other = {"took_nothing": True}, {"took_other": "herbal tea"}
    kinds: list[list[tuple[int, dict[str, Any]]]] = [
        [(0, actual | reward)],
        [(0, reward), (3, actual)],
        [(0, actual), (5, reward)],
        [(2, nothing | reward)],
        [(1, reward)],
        [(7, actual | reward)],
        [(4, other), (9, reward)],
        [(6, actual)],
    ]
    return kinds[recommendation % 8]


def played(text: str, n_arms: int) -> dict[str, Any]:
    """The arms of a trial that follows the script, and fingerprints of all it said and learned."""
    trial = Trial(text, ARMS[:n_arms], SEED, HORIZON, run=1, reward_values=GRADED)
    due: dict[int, list[tuple[Any, dict[str, Any]]]] = {}  # by the ID of a recommendation
    made, states = [], []
    for now in range(N_RECOMMENDATIONS):
        recommendation = trial.recommend()
        made.append(recommendation)
        for delay, report in feedback(now, n_arms):
            due.setdefault(now + delay, []).append((recommendation.id, report))
        for id_, report in reversed(due.pop(now, [])):
            trial.report(id_, **report)
        states.append(trial.state)
    return {
        "arms": "".join(str(ARMS.index(recommendation.arm)) for recommendation in made),
        "last probabilities": list(made[-1].probabilities.values()),
        "probabilities": fingerprint([list(recommendation.probabilities.values()) for recommendation in made]),
        "memos": fingerprint([recommendation.memo for recommendation in made]),
        "states": fingerprint(states),
    }


def in_memory(subject: str, n_arms: int) -> dict[str, Any]:
    """Every policy of a composition with so many arms."""
    return {name: played(text, of) for name, text, of in scripts(subject) if of == n_arms}


def scripts(subject: str) -> list[tuple[str, str, int]]:
    """What the golden calls the scripts of a composition, with the policy and the number of arms of each."""
    return [(f"{text} ({n_arms})", text, n_arms) for n_arms in (2, 3) for text in variants(subject, n_arms)]
