"""The populations of the study and their true values, with which every interval is compared."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from typing import Any

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
    """A population of the study, optionally in several groups (centres) with given shares.

    `missing[y]` is the probability that an outcome y goes unreported among patients assigned the treatment; among the
    others it is half as large. `lost` is the share of patients without any report, whatever their type. Every
    compliance type gives the rewards of both arms, even of an arm that it never takes.
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
        """Mean rewards by the arm chosen (intention-to-treat), control first."""
        control, treatment = (sum(w * one.reward_when_chosen(arm) for w, one in self._weighed) for arm in (0, 1))
        return control, treatment

    @cached_property
    def taken(self) -> tuple[float, float]:
        """Mean rewards if everybody took an arm."""
        control, treatment = (sum(w * _mean(one.reward[arm]) for w, one in self._weighed) for arm in (0, 1))
        return control, treatment

    @cached_property
    def shares(self) -> dict[str, float]:
        """Shares of people by behaviour."""
        return {name: sum(w for w, one in self._weighed if one.takes == does) for name, does in _BEHAVIOURS.items()}

    @cached_property
    def types(self) -> dict[str, tuple[float, float]]:
        """Mean rewards by behaviour, for behaviours that occur."""
        found = {}
        for name, share in self.shares.items():
            if share > 0:
                its = [(w, one) for w, one in self._weighed if one.takes == _BEHAVIOURS[name]]
                control, treatment = (sum(w * _mean(one.reward[arm]) for w, one in its) / share for arm in (0, 1))
                found[name] = control, treatment
        return found

    @cached_property
    def is_mediated(self) -> bool:
        """Return whether, given the arm taken, the mean reward does not depend on the arm chosen."""
        every = [population.mean_given_both() for _, population in self.groups]
        # NaN for empty cells.
        return all(not abs(both[0, actual] - both[1, actual]) > 1e-12 for both in every for actual in (0, 1))

    @property
    def is_monotone(self) -> bool:
        """Return whether nobody defies, that is, does the opposite of each recommendation."""
        return self.shares["defiers"] == 0.0

    @property
    def is_null(self) -> bool:
        """Return whether the arm recommended makes no difference."""
        return abs(self.chosen[1] - self.chosen[0]) < 1e-12

    @property
    def complier_effect(self) -> float | None:
        """The effect among compliers, or None if there are none."""
        means = self.types.get("compliers")
        return means[1] - means[0] if means else None


def _mean(reward: float | None) -> float:
    assert reward is not None, "every compliance type gives the rewards of both arms"
    return reward


def _read(design: str) -> tuple[People, ...]:
    """Return the populations of a design, read from `people.toml`."""
    given = tomllib.loads(files(__package__).joinpath("people.toml").read_text("utf-8"))[design]
    return tuple(_people(**one) for one in given)


def _people(
    name: str, words: str, types: Mapping[str, Any] | None = None, centres: Sequence[Any] = (), **others: Any
) -> People:
    groups = [(1.0, _population(name, types))] if types else []
    for number, (share, *rewards) in enumerate(centres, start=1):
        groups.append((share, _population(f"{name}, {number}", {"complier": (1.0, *rewards)})))
    missing = tuple(others.get("missing", ())) or None
    return People(name, words, tuple(groups), missing, others.get("lost", 0.0))


def _population(name: str, types: Mapping[str, Any]) -> ComplianceTypes:
    found = [ComplianceType(who, share, _TAKES[who], tuple(rewards)) for who, (share, *rewards) in types.items()]
    return ComplianceTypes(name, ARMS, found)


FIXED, ADAPTIVE = _read("fixed"), _read("adaptive")
WEAK = ("weak instrument", "weak, strongly confounded")
LARGE = (
    *WEAK,
    "one-sided, confounded",
    "two-sided, confounded",
    "confounded, no effect",
    "rare success",
    "rare failure",
    "four centres",
)  # also drawn with many patients
