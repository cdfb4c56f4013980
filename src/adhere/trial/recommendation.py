"""What a trial in memory answers when asked for an arm."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Recommendation:
    """An arm for the next patient, with everything needed to explain it and to learn from it later.

    Reports name it by its `id`; `probabilities` are those of each arm when it was drawn, exact unless `estimated`;
    `memo` is what the policy must remember until feedback comes.
    """

    id: str
    arm: str
    probabilities: dict[str, float]
    memo: tuple[float, ...]
    estimated: bool = False
