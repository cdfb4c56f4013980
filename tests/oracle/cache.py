"""The cache of the recycling trick (§3.3)."""

from __future__ import annotations

from random import Random


class Cache:
    """Outcomes by chosen arm, as counts per reward value; each can be taken once."""

    def __init__(self, n_arms: int) -> None:
        self.stored: list[dict[float, int]] = [{} for _ in range(n_arms)]

    def holds(self, arm: int) -> bool:
        return bool(self.stored[arm])

    def holds_every_arm(self) -> bool:
        return all(self.stored)

    def store(self, arm: int, reward: float) -> None:
        self.stored[arm][reward] = self.stored[arm].get(reward, 0) + 1

    def take(self, arm: int, rng: Random) -> float:
        """One stored outcome of the arm, all alike in probability, removed."""
        counts = self.stored[arm]
        (reward,) = rng.choices(list(counts), weights=list(counts.values()))
        counts[reward] -= 1
        if counts[reward] == 0:
            del counts[reward]
        return reward
