"""Times other libraries' bandits, in an environment of their own: a question a line in, an answer a line out.

A question is JSON: {"library": …, "policy": …, "decisions": n}, or {"library": …} for its version. A bandit has two
arms and meets rewards drawn beforehand; only its own calls are timed. Needs nothing of adhere.
"""

from __future__ import annotations

import json
import os
import random
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

MEANS = (0.9064, 0.9103)  # about those of the stroke trial
EPSILON = 0.1
HORIZON = 10_000
Rewards = list[tuple[int, int]]


def river(policy: str, rewards: Rewards) -> float:
    """`pull` and `update`."""
    from river import bandit, proba

    chooser: Any
    if policy == "thompson":
        chooser = bandit.ThompsonSampling(reward_obj=proba.Beta(), seed=1)
    else:
        chooser = bandit.EpsilonGreedy(epsilon=EPSILON, seed=1)
    arms = [0, 1]
    start = time.perf_counter()
    for reward in rewards:
        arm = chooser.pull(arms)
        chooser.update(arm, reward[arm])
    return time.perf_counter() - start


def pymab(policy: str, rewards: Rewards) -> float:
    """`select_action` and `update`."""
    import numpy as np

    chooser, rng = _pymab_policy(policy), np.random.default_rng(1)
    start = time.perf_counter()
    for reward in rewards:
        arm = chooser.select_action(rng=rng)
        chooser.update(action=arm, reward=reward[arm])
    return time.perf_counter() - start


def pymab_experiment(policy: str, rewards: Rewards) -> float:
    """Whole replicates of its own experiment, which it runs in Rust; it draws the rewards itself."""
    import numpy as np
    from pymab import BanditEnvironment, BernoulliReward, Experiment, ExperimentConfig

    experiment = Experiment(
        environment=BanditEnvironment(means=np.array(MEANS), reward_model=BernoulliReward()),
        policies={"policy": _pymab_policy(policy)},
        config=ExperimentConfig(
            horizon=min(HORIZON, len(rewards)),
            n_replicates=max(1, len(rewards) // HORIZON),
            seed=1,
            backend="rust",
        ),
    )
    start = time.perf_counter()
    experiment.run()
    return time.perf_counter() - start


def _pymab_policy(policy: str) -> Any:
    from pymab.policies import BernoulliThompsonSamplingPolicy, EpsilonGreedyPolicy

    if policy == "thompson":
        return BernoulliThompsonSamplingPolicy(n_arms=2)
    return EpsilonGreedyPolicy(n_arms=2, epsilon=EPSILON)


def mabwiser(policy: str, rewards: Rewards) -> float:
    """`predict` and `partial_fit`."""
    from mabwiser.mab import MAB, LearningPolicy

    kinds = {"thompson": LearningPolicy.ThompsonSampling(), "epsilon-greedy": LearningPolicy.EpsilonGreedy(EPSILON)}
    chooser = MAB([0, 1], kinds[policy], seed=1)
    chooser.fit([0, 1], [1, 1])  # it predicts only once fitted
    start = time.perf_counter()
    for reward in rewards:
        arm = chooser.predict()
        chooser.partial_fit([arm], [reward[arm]])
    return time.perf_counter() - start


def smpybandits(policy: str, rewards: Rewards) -> float:
    """`choice` and `getReward`."""
    from SMPyBandits.Policies import EpsilonGreedy, Thompson

    chooser = Thompson(2) if policy == "thompson" else EpsilonGreedy(2, epsilon=EPSILON)
    chooser.startGame()
    start = time.perf_counter()
    for reward in rewards:
        arm = chooser.choice()
        chooser.getReward(arm, reward[arm])
    return time.perf_counter() - start


LIBRARIES: dict[str, tuple[str, Callable[[str, Rewards], float]]] = {
    "river": ("river", river),
    "pymab": ("pymab", pymab),
    "pymab experiment": ("pymab", pymab_experiment),
    "MABWiser": ("mabwiser", mabwiser),
    "SMPyBandits": ("SMPyBandits", smpybandits),
}


def answer(question: dict[str, Any]) -> dict[str, Any]:
    """The seconds it took, or what went wrong."""
    package, timed = LIBRARIES[question["library"]]
    try:
        if "policy" not in question:
            return {"version": version(package)}
        draw = random.Random(1)
        n = question["decisions"]
        rewards = [(int(draw.random() < MEANS[0]), int(draw.random() < MEANS[1])) for _ in range(n)]
        return {"seconds": timed(question["policy"], rewards)}
    except Exception as error:  # whatever a library may raise is what the table says of it
        return {"error": f"{type(error).__name__}: {error}"}


def main() -> None:
    """Answer until there are no more questions."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # some libraries print while they are imported
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), file=answers)


if __name__ == "__main__":
    main()
