"""The populations of the study, and what is true of them: what every interval is held against."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from adhere.populations import ComplianceType, ComplianceTypes
from adhere.populations.compliance_types import ALWAYS_TAKER, COMPLIER, DEFIER, NEVER_TAKER

_BEHAVIOURS = {
    "never-takers": NEVER_TAKER,
    "always-takers": ALWAYS_TAKER,
    "compliers": COMPLIER,
    "defiers": DEFIER,
}


ARMS = ("control", "treatment")
_TAKES = {"never": (0, 0), "always": (1, 1), "complier": (0, 1), "defier": (1, 0)}


@dataclass(frozen=True)
class People:
    """A population of the study, perhaps in several groups (centres) of the given shares.

    `missing[y]` is the probability that an outcome y goes unreported by those recommended the treatment; of the
    others half as many do. `lost` is the share of patients of whom nothing is ever reported, whoever they are.
    Every compliance type says the rewards of both arms, also of one that it never takes.
    """

    name: str
    words: str
    groups: tuple[tuple[float, ComplianceTypes], ...]
    missing: tuple[float, float] | None = None
    lost: float = 0.0

    @cached_property
    def _weighed(self) -> list[tuple[float, ComplianceType]]:
        return [(share * one.probability, one) for share, population in self.groups for one in population.types]

    @cached_property
    def chosen(self) -> tuple[float, float]:
        """Mean rewards by the arm chosen (intention-to-treat), control's first."""
        control, treatment = (sum(w * one.reward_when_chosen(arm) for w, one in self._weighed) for arm in (0, 1))
        return control, treatment

    @cached_property
    def taken(self) -> tuple[float, float]:
        """Mean rewards if everybody took an arm."""
        control, treatment = (sum(w * _mean(one.reward[arm]) for w, one in self._weighed) for arm in (0, 1))
        return control, treatment

    @cached_property
    def shares(self) -> dict[str, float]:
        """Shares of people by what they do."""
        return {name: sum(w for w, one in self._weighed if one.takes == does) for name, does in _BEHAVIOURS.items()}

    @cached_property
    def types(self) -> dict[str, tuple[float, float]]:
        """Mean rewards of people by what they do, where there are such."""
        found = {}
        for name, share in self.shares.items():
            if share > 0:
                its = [(w, one) for w, one in self._weighed if one.takes == _BEHAVIOURS[name]]
                control, treatment = (sum(w * _mean(one.reward[arm]) for w, one in its) / share for arm in (0, 1))
                found[name] = control, treatment
        return found

    @cached_property
    def is_mediated(self) -> bool:
        """Whether, given the arm taken, the mean reward does not depend on the arm chosen."""
        every = [population.mean_given_both() for _, population in self.groups]
        # NaN where nobody is.
        return all(not abs(both[0, actual] - both[1, actual]) > 1e-12 for both in every for actual in (0, 1))

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
        means = self.types.get("compliers")
        return means[1] - means[0] if means else None


def _mean(reward: float | None) -> float:
    assert reward is not None, "every compliance type says the rewards of both arms"
    return reward


def people(
    name: str,
    words: str,
    shares: Mapping[str, tuple[float, float, float]],
    missing: tuple[float, float] | None = None,
    lost: float = 0.0,
) -> People:
    """People in one group; `shares` gives each type's probability and mean rewards of control and treatment."""
    return People(name, words, ((1.0, _population(name, shares)),), missing, lost)


def _population(name: str, shares: Mapping[str, tuple[float, float, float]]) -> ComplianceTypes:
    types = [ComplianceType(who, part, _TAKES[who], (low, high)) for who, (part, low, high) in shares.items()]
    return ComplianceTypes(name, ARMS, types)


def _centres(name: str, words: str, rewards: Sequence[tuple[float, float, float]]) -> People:
    """Full compliance in several centres, each with its share and its mean rewards."""
    groups = [
        (part, _population(f"{name}, {number}", {"complier": (1.0, low, high)}))
        for number, (part, low, high) in enumerate(rewards, start=1)
    ]
    return People(name, words, tuple(groups))


FIXED = (
    people("full compliance", "everybody does as told", {"complier": (1.0, 0.5, 0.65)}),
    people("full compliance, no effect", "everybody does as told, to no effect", {"complier": (1.0, 0.4, 0.4)}),
    people(
        "one-sided, mediated",
        "30% never take the treatment; whoever takes an arm fares the same",
        {"never": (0.3, 0.4, 0.6), "complier": (0.7, 0.4, 0.6)},
    ),
    people(
        "one-sided, confounded",
        "30% never take the treatment, and fare worse whatever they take",
        {"never": (0.3, 0.2, 0.3), "complier": (0.7, 0.5, 0.65)},
    ),
    people(
        "two-sided, mediated",
        "20% never and 10% always take the treatment; whoever takes an arm fares the same",
        {"never": (0.2, 0.4, 0.55), "always": (0.1, 0.4, 0.55), "complier": (0.7, 0.4, 0.55)},
    ),
    people(
        "two-sided, confounded",
        "25% never take the treatment and fare worse, 15% always do and fare better",
        {"never": (0.25, 0.2, 0.3), "always": (0.15, 0.7, 0.85), "complier": (0.6, 0.45, 0.6)},
    ),
    people(
        "confounded, no effect",
        "as before, but no arm does anything",
        {"never": (0.25, 0.2, 0.2), "always": (0.15, 0.8, 0.8), "complier": (0.6, 0.5, 0.5)},
    ),
    people(
        "rare success",
        "confounded, with success in about 2%",
        {"never": (0.2, 0.01, 0.01), "always": (0.1, 0.04, 0.05), "complier": (0.7, 0.015, 0.025)},
    ),
    people(
        "rare failure",
        "confounded, with success in about 98%",
        {"never": (0.2, 0.99, 0.99), "always": (0.1, 0.95, 0.96), "complier": (0.7, 0.975, 0.985)},
    ),
    people(
        "weak instrument",
        "3% are compliers: 60% never and 37% always take the treatment, whatever they are told, and fare better",
        {"never": (0.6, 0.3, 0.4), "always": (0.37, 0.6, 0.7), "complier": (0.03, 0.4, 0.6)},
    ),
    people(
        "weak, strongly confounded",
        "3% are compliers, and who always takes the treatment fares far better than who never does",
        {"never": (0.6, 0.05, 0.1), "always": (0.37, 0.9, 0.95), "complier": (0.03, 0.4, 0.6)},
    ),
    people(
        "defiers",
        "10% do the opposite of what they are told: what assumes that nobody does is not judged",
        {"never": (0.2, 0.3, 0.4), "complier": (0.7, 0.45, 0.6), "defier": (0.1, 0.6, 0.5)},
    ),
    _centres(
        "four centres",
        "everybody does as told; outcomes differ from centre to centre, and so do effects",
        [(0.4, 0.2, 0.35), (0.3, 0.4, 0.5), (0.2, 0.6, 0.7), (0.1, 0.8, 0.85)],
    ),
    people(
        "outcomes missing",
        "10% of failures and 4% of successes go unreported under treatment, half as many under control",
        {"never": (0.25, 0.2, 0.3), "complier": (0.75, 0.45, 0.6)},
        missing=(0.1, 0.04),
    ),
)
WEAK = ("weak instrument", "weak, strongly confounded")
LARGE = (
    *WEAK,
    "one-sided, confounded",
    "two-sided, confounded",
    "confounded, no effect",
    "rare success",
    "rare failure",
    "four centres",
)  # drawn with many patients too

ADAPTIVE = (
    people(
        "confounded, no effect",
        "25% never take the treatment and fare worse, 15% always do and fare better; no arm does anything",
        {"never": (0.25, 0.2, 0.2), "always": (0.15, 0.8, 0.8), "complier": (0.6, 0.5, 0.5)},
    ),
    people(
        "confounded, effect",
        "the same people, the treatment helps everybody by 0.2, and 3% are lost to follow-up",
        {"never": (0.25, 0.2, 0.4), "always": (0.15, 0.6, 0.8), "complier": (0.6, 0.4, 0.6)},
        lost=0.03,
    ),
    people(
        "mediated, effect",
        "as many do not as they are told, but whoever takes an arm fares the same",
        {"never": (0.25, 0.4, 0.6), "always": (0.15, 0.4, 0.6), "complier": (0.6, 0.4, 0.6)},
    ),
)
