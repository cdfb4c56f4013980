"""What a policy believes, in words: a line for each of its parts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from adhere.trial.monitoring.policy_beliefs import Belief
from adhere_client.responses.monitor import OddsOfMediation, Posterior


def belief_words(found: Iterable[Belief]) -> Iterator[str]:
    """A line for each part.

    >>> from adhere_client.responses.monitor import Weights
    >>> list(belief_words([Weights("exp3", "arms", {"walk": 0.25, "aspirin": 0.75})]))
    ['exp3: weights of its arms: walk 0.250, aspirin 0.750']
    """
    for part, group in groupby(found, key=lambda one: one.part):
        posteriors = []
        for one in group:
            if isinstance(one, Posterior):
                posteriors.append(one)
            elif isinstance(one, OddsOfMediation):
                yield f"{part}: probability {one.probability:.3f} that outcomes depend on the arm taken alone"
            else:
                weights = ", ".join(f"{name} {weight:.3f}" for name, weight in one.weights.items())
                yield f"{part}: weights of its {one.of}: {weights}"
        if posteriors:
            means = ", ".join(f"{one.arm} {one.mean:.3f} ({one.low:.3f} to {one.high:.3f})" for one in posteriors)
            yield f"{part}: mean outcome with 95% interval, by the arm {posteriors[0].of}: {means}"
