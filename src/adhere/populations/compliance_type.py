"""Compliance type: patients who share one behaviour ν and its rewards, with arms by number or by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np

from adhere.checks import check_reward, check_unit_number, is_integer
from adhere.errors import InputError, nearest

NEVER_TAKER = (0, 0)
ALWAYS_TAKER = (1, 1)
COMPLIER = (0, 1)
DEFIER = (1, 0)
BEHAVIOURS = {
    "never-taker": NEVER_TAKER,
    "always-taker": ALWAYS_TAKER,
    "complier": COMPLIER,
    "defier": DEFIER,
}
AS_TOLD = "as told"

Takes: TypeAlias = Sequence[int] | Mapping[str, str] | str
Rewards: TypeAlias = Sequence[float | None] | Mapping[str, float] | float


@dataclass(frozen=True, init=False)
class ComplianceType:
    """One compliance behaviour: `takes[c]` is ν(c), the arm taken when c is chosen.

    `reward[a]` is r_{s,a}, the mean reward when arm a is taken; None (or "-") for an arm that is never taken.
    `takes` may also map the names of arms, or be "as told", the name of the arm that is always taken or, with two
    arms, one of the paper's four behaviours; left out, the type's name must be one of these four. `reward` may
    also map the names of arms to their mean rewards, or be one mean reward for all. What was given by name is
    numbered by the `ComplianceTypes` it becomes part of.

    >>> ComplianceType("defier", 1.0, reward=(0, 1)).takes
    (1, 0)
    >>> walks = ComplianceType("walks anyway", 1.0, {"none": "walk", "walk": "walk"}, {"walk": 0.7})
    >>> walks.numbered(["none", "walk"])
    ComplianceType(name='walks anyway', probability=1.0, takes=(1, 1), reward=(None, 0.7))
    """

    name: str
    probability: float
    takes: tuple[int, ...]
    reward: tuple[float | None, ...]
    _is_taken_by_word: ClassVar[bool]

    def __init__(self, name: str, probability: float, takes: Takes = (), reward: Rewards = ()) -> None:
        if not isinstance(name, str) or not name.strip():
            raise InputError("compliance type name", name, "a name that is not empty")
        where = f"compliance type {name!r}, "
        taken, means = _checked_takes(where, name, takes), _checked_reward(where, reward)
        if isinstance(taken, str) and isinstance(means, tuple):
            taken = _behaviour(taken, len(means)) or taken
        if isinstance(taken, tuple) and isinstance(means, float):
            means = (means,) * len(taken)
        if isinstance(taken, tuple) and isinstance(means, tuple):
            if len(means) != len(taken):
                raise InputError(where + "reward", reward, f"{len(taken)} mean rewards, one per arm")
            means = tuple(_mean_of(where, arm, mean, taken) for arm, mean in enumerate(means))
        # Then the number of mean rewards decides how many arms are taken, and may be wrong.
        object.__setattr__(self, "_is_taken_by_word", isinstance(takes, str))
        values = (name, check_unit_number(where + "probability", probability), taken, means)
        for field, value in zip(("name", "probability", "takes", "reward"), values, strict=True):
            object.__setattr__(self, field, value)

    def numbered(self, arms: Sequence[str]) -> ComplianceType:
        """The same compliance type with these arms by number."""
        where = f"compliance type {self.name!r}, "
        takes: Any = self.takes
        if isinstance(takes, str):
            takes = _taken_by_word(where, takes, arms)
        elif isinstance(takes, dict):
            _check_arms(where + "takes", [*takes, *takes.values()], arms)
            for arm in arms:
                if arm not in takes:
                    raise InputError(where + "takes", ", ".join(takes), f"also what is taken if {arm!r} is chosen")
            takes = tuple(arms.index(takes[arm]) for arm in arms)
        if len(takes) != len(arms) and self._is_taken_by_word:
            n, names = len(takes), ", ".join(arms)
            said = f"{where}reward: {n} mean {'reward' if n == 1 else 'rewards'} for {len(arms)} arms ({names})"
            raise InputError(where + "reward", self.reward, "one per arm", f"{said}; expected one per arm")
        if len(takes) != len(arms):
            raise InputError(where + "takes", takes, f"{len(arms)} arms, as many as {', '.join(arms)}")
        reward: Any = self.reward
        if isinstance(reward, dict):
            _check_arms(where + "reward", reward, arms)
            for arm in dict.fromkeys(arms[number] for number in takes):
                if arm not in reward:
                    expected = f"also the mean reward of {arm!r}, which it takes"
                    raise InputError(where + "reward", ", ".join(reward), expected)
            reward = tuple(reward.get(arm) for arm in arms)
        return ComplianceType(self.name, self.probability, takes, reward)

    def reward_when_chosen(self, arm: int) -> float:
        """r_{s,ν(c)}, the mean reward when this arm is chosen."""
        mean = self.reward[self.takes[arm]]
        assert mean is not None, "a compliance type holds the reward of every arm it takes"
        return mean

    def outcomes(self) -> dict[int, list[tuple[float, float]]]:
        """For each arm it can take, the values (reward, probability) of the patient's Bernoulli reward."""
        means = {self.takes[arm]: self.reward_when_chosen(arm) for arm in range(len(self.takes))}
        return {arm: [pair for pair in ((0.0, 1 - mean), (1.0, mean)) if pair[1] > 0] for arm, mean in means.items()}


def _checked_takes(where: str, name: str, takes: object) -> Any:
    """Arms by number as a tuple, by name as a dictionary, or a word."""
    if isinstance(takes, str):
        return takes.strip()  # perhaps an arm's name, which a compliance type alone does not know
    if isinstance(takes, Mapping):
        return dict(takes)
    if not isinstance(takes, (tuple, list, np.ndarray)):
        expected = "the arm taken for each chosen arm, e.g. {'control': 'treatment', …}, or 'as told'"
        raise InputError(where + "takes", takes, expected)
    arms = tuple(takes) or BEHAVIOURS.get(name.strip().lower(), ())
    if not arms:
        expected = (
            f"the arm taken for each chosen arm, or a compliance type name that says so, {nearest(name, BEHAVIOURS)}"
        )
        raise InputError(where + "takes", takes, expected)
    for arm in arms:
        if not is_integer(arm) or not 0 <= arm < len(arms):
            raise InputError(where + "takes", arm, f"arms numbered from 0 to {len(arms) - 1}")
    return tuple(int(arm) for arm in arms)


def _checked_reward(where: str, reward: object) -> Any:
    """Mean rewards by number as a tuple, by name as a dictionary, or one for all."""
    if isinstance(reward, Mapping):
        return {arm: check_reward(f"{where}reward of {arm!r}", mean) for arm, mean in reward.items()}
    if isinstance(reward, (tuple, list, np.ndarray)):
        return tuple(reward)
    return check_reward(where + "reward", reward)


def _mean_of(where: str, arm: int, mean: object, takes: tuple[int, ...]) -> float | None:
    if mean in (None, "-") and arm not in takes:
        return None
    return check_reward(f"{where}reward of arm {arm}", mean)


def _behaviour(word: str, n_arms: int) -> tuple[int, ...] | None:
    """What a word says is taken for each chosen arm; None if it says nothing of so many arms."""
    if word.lower() == AS_TOLD:
        return tuple(range(n_arms))
    return BEHAVIOURS.get(word.lower()) if n_arms == 2 else None


def _taken_by_word(where: str, word: str, arms: Sequence[str]) -> tuple[int, ...]:
    if found := _behaviour(word, len(arms)):
        return found
    if word not in arms:
        words = nearest(word, [AS_TOLD, *arms, *(BEHAVIOURS if len(arms) == 2 else ())])
        example = f"{{{arms[0]!r}: {arms[1]!r}, …}}"
        raise InputError(where + "takes", word, f"{words}, or the arm taken for each chosen arm, e.g. {example}")
    return (arms.index(word),) * len(arms)


def _check_arms(where: str, names: Sequence[object] | Mapping[str, float], arms: Sequence[str]) -> None:
    for name in names:
        if name not in arms:
            raise InputError(where, name, nearest(str(name), arms))
