"""What is true of a two-arm population: what every interval is held against."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from adhere.populations import Strata
from adhere.populations.compliance_type import ALWAYS_TAKER, COMPLIER, DEFIER, NEVER_TAKER

_BEHAVIOURS = {
    "never-takers": NEVER_TAKER,
    "always-takers": ALWAYS_TAKER,
    "compliers": COMPLIER,
    "defiers": DEFIER,
}


@dataclass(frozen=True)
class Truth:
    """What intervals should cover; differences are treatment − control, `means` hold control's first.

    `chosen` are the mean rewards by the arm chosen (intention-to-treat), `taken` those if everybody took an arm.
    `shares` and `strata` are the shares and mean rewards of people by what they do, where there are such.
    """

    chosen: tuple[float, float]
    taken: tuple[float, float]
    shares: dict[str, float]
    strata: dict[str, tuple[float, float]]
    is_mediated: bool

    @property
    def is_monotone(self) -> bool:
        """Whether nobody does the opposite of what is recommended."""
        return self.shares["defiers"] == 0.0

    @property
    def is_null(self) -> bool:
        """Whether it makes no difference which arm is recommended."""
        return abs(self.chosen[1] - self.chosen[0]) < 1e-12

    @property
    def complier_effect(self) -> float | None:
        """The effect among those who do as they are told; None where there are none."""
        means = self.strata.get("compliers")
        return means[1] - means[0] if means else None


def truth_of(groups: Sequence[tuple[float, Strata]]) -> Truth:
    """What is true of a mixture of populations of the arms control and treatment, given their shares.

    Every stratum must say the rewards of both arms, also of one that it never takes.
    """
    people = [(share * one.probability, one) for share, population in groups for one in population.strata]
    chosen = tuple(sum(weight * one.reward_when_chosen(arm) for weight, one in people) for arm in (0, 1))
    taken = tuple(sum(weight * _mean(one.reward[arm]) for weight, one in people) for arm in (0, 1))
    shares = {
        name: sum(weight for weight, one in people if one.takes == takes) for name, takes in _BEHAVIOURS.items()
    }
    strata = {
        name: tuple(
            sum(weight * _mean(one.reward[arm]) for weight, one in people if one.takes == takes) / shares[name]
            for arm in (0, 1)
        )
        for name, takes in _BEHAVIOURS.items()
        if shares[name] > 0
    }
    return Truth(_pair(chosen), _pair(taken), shares, {name: _pair(means) for name, means in strata.items()},
                 all(_is_mediated(population) for _, population in groups))  # fmt: skip


def _is_mediated(population: Strata) -> bool:
    """Whether, given the arm taken, the mean reward does not depend on the arm chosen."""
    both = population.mean_given_both()
    return all(not abs(both[0, actual] - both[1, actual]) > 1e-12 for actual in (0, 1))  # NaN: nobody is there


def _mean(reward: float | None) -> float:
    assert reward is not None, "every stratum says the rewards of both arms"
    return reward


def _pair(values: tuple[float, ...]) -> tuple[float, float]:
    return values[0], values[1]
