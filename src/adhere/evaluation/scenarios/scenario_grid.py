"""Grid of scenarios: baseline × effect × compliance × confounding, with both null hypotheses at each point."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, TypeAlias

from adhere.checks import check_unit_number, is_number
from adhere.decode_errors import not_supported
from adhere.errors import InputError, nearest
from adhere.evaluation.scenarios.scenario import Null, Scenario, null_of
from adhere.populations import ComplianceType, ComplianceTypes

# Effect of the treatment, or of each named arm.
Effect: TypeAlias = float | Mapping[str, float]

MAX_SCENARIOS = 1000
_ROUNDING = 1e-12
_LISTS = ("baseline", "effect", "compliance", "confounding")


@dataclass(frozen=True)
class ScenarioGrid:
    """Grid of populations in which a share `compliance` complies and all others always take the same arm.

    Each arm has a share (1 - compliance) / k of people who always take it; with two arms these are always-takers of
    the treatment and never-takers. Without an effect, the mean outcome is `baseline` for compliers, `baseline` +
    `confounding` for people who always take an arm, and `baseline` - `confounding` for people who always take the
    control (the first arm if there is none). The treatment is the last arm that is not the control. Taking it raises
    the mean outcome by `effect`. An effect may also be a table with a number for each arm that has one.

    At each baseline, compliance and confounding, two nulls are added: sharp, without an effect, and average. Under
    the average null, half of the compliers gain `average_null` from the treatment and half lose as much, so that the
    arm recommended makes no difference on average. If everybody complies, there is no confounding, so scenarios that
    differ only in it are merged.

    The defaults are no effect (only the nulls), everybody complies, and no confounding. The default of `average_null`
    depends on the baseline; it is 0.2 at a baseline of ½.

    >>> ScenarioGrid(baseline=0.75).average_null
    0.1
    """

    baseline: float | tuple[float, ...] = 0.5
    effect: tuple[Effect, ...] = ()
    compliance: tuple[float, ...] = (1.0,)
    confounding: tuple[float, ...] = (0.0,)
    average_null: float | None = None

    @staticmethod
    def read(table: Mapping[str, object]) -> ScenarioGrid:
        """Read a grid from a table of TOML or JSON; a single number is accepted for a list of one."""
        known = list(ScenarioGrid.__dataclass_fields__)
        found: dict[str, Any] = {}
        for name, value in table.items():
            if name not in known:
                expected = nearest(name, [*known, "populations"])
                unknown = f"scenarios: unknown field {name!r}, expected {expected}"
                sentence = not_supported(f"scenarios.{name}", str(name)) or unknown
                raise InputError(f"scenarios.{name}", value, expected, sentence)
            found[name] = _numbers(name, value) if name in _LISTS else value
        if len(found.get("baseline", ())) == 1:
            (found["baseline"],) = found["baseline"]
        return ScenarioGrid(**found)

    def __post_init__(self) -> None:
        for baseline in self.baselines:
            check_unit_number("scenarios.baseline", baseline)
        for name in _LISTS[1:]:
            lowest = 0.0 if name == "compliance" else -1.0
            by_arm = ", or tables of them by arm, such as {treatment = 0.1}" if name == "effect" else ""
            for given in getattr(self, name):
                for value in given.values() if by_arm and isinstance(given, Mapping) else (given,):
                    if not is_number(value) or not lowest <= value <= 1.0:
                        raise InputError(f"scenarios.{name}", value, f"numbers from {lowest:g} to 1{by_arm}")
        nearest_end = min(self.baselines, key=lambda one: min(one, 1.0 - one))
        room = min(nearest_end, 1.0 - nearest_end)
        if self.average_null is None:
            if len(self.baselines) == 1:
                object.__setattr__(self, "average_null", usual_average(nearest_end))
            return
        if not is_number(self.average_null) or not 0.0 <= self.average_null <= room:
            given = f"the baseline {nearest_end:g}, plus or minus it, is a mean outcome"
            raise InputError("scenarios.average_null", self.average_null, f"a number from 0 to {room:g}: {given}")
        object.__setattr__(self, "average_null", float(self.average_null))

    @property
    def baselines(self) -> tuple[float, ...]:
        """Distinct baselines."""
        given = self.baseline if isinstance(self.baseline, tuple) else (self.baseline,)
        return tuple(dict.fromkeys(given))

    def _average(self, baseline: float) -> float:
        """Return the gain of half of the compliers under the average null."""
        return usual_average(baseline) if self.average_null is None else self.average_null

    def in_words(self) -> str:
        """Return the settings of the grid in words.

        >>> ScenarioGrid(compliance=(1.0, 0.7), confounding=(0.2,)).in_words()
        'baseline 0.5, compliance 100% and 70%, confounding 0.2, average null ±0.2'
        """
        parts = {
            "baseline": " and ".join(f"{one:g}" for one in self.baselines),
            "effect": " and ".join(map(_written, self.effect)),
            "compliance": " and ".join(f"{100 * share:g}%" for share in self.compliance),
            "confounding": " and ".join(f"{shift:g}" for shift in self.confounding),
            "average null": " and ".join(dict.fromkeys(f"±{self._average(one):g}" for one in self.baselines)),
        }
        return ", ".join(f"{name} {text}" for name, text in parts.items() if text)

    def scenarios(self, arms: Sequence[str], control: int | None = None) -> tuple[Scenario, ...]:
        """Return all scenarios for these arms: sharp nulls, average nulls, then effects."""
        every = product(self.baselines, self.compliance, self.confounding)
        places = dict.fromkeys((baseline, c, 0.0 if c == 1.0 else g) for baseline, c, g in every)
        nulls: list[tuple[Effect, Null | None]] = [(0.0, "sharp"), (0.0, "average")]
        by_name = {_written(effect): effect for effect in self.effect if _is_any(effect)}
        effects: list[tuple[Effect, Null | None]] = [(effect, None) for effect in by_name.values()]
        wanted = [(*kind, *place) for kind in [*nulls, *effects] for place in places]
        # Without compliers all means are equal, and there is nobody who could gain or lose.
        wanted = [
            (effect, null, baseline, compliance, shift)
            for effect, null, baseline, compliance, shift in wanted
            if null != "average" or (compliance and self._average(baseline))
        ]
        if len(wanted) > MAX_SCENARIOS:
            raise InputError("scenarios", len(wanted), f"a grid of at most {MAX_SCENARIOS} scenarios")
        return tuple(self._scenario(tuple(arms), 0 if control is None else control, *one) for one in wanted)

    def _scenario(
        self,
        arms: tuple[str, ...],
        control: int,
        effect: Effect,
        null: Null | None,
        baseline: float,
        compliance: float,
        shift: float,
    ) -> Scenario:
        name = f"{null} null" if null else f"effect {_written(effect)}"
        name += f", compliance {100 * compliance:g}%"
        if compliance < 1.0 and any(self.confounding):
            name += f", confounding {shift:g}"
        if len(self.baselines) > 1:
            name += f", baseline {baseline:g}"
        k, as_told = len(arms), tuple(range(len(arms)))
        treatment = k - 1 if control < k - 1 else k - 2
        average = self._average(baseline) if null == "average" else None
        everybody = _by_arm(effect, arms, treatment)
        gains = {"complier": everybody}
        if average is not None:
            gaining, losing = (_by_arm(gain, arms, treatment) for gain in (average, -average))
            gains = {"gaining complier": gaining, "losing complier": losing}
        people = [
            ComplianceType(kind, compliance / len(gains), as_told, _rewards(name, kind, baseline, 0.0, by_arm))
            for kind, by_arm in gains.items()
        ]
        for arm in range(k if compliance < 1.0 else 0):
            kind = "never-taker" if arm == control else "always-taker" if k == 2 else f"always {arms[arm]}"
            own = -shift if arm == control else shift
            rewards = _rewards(name, kind, baseline, own, everybody)
            people.append(ComplianceType(kind, (1.0 - compliance) / k, (arm,) * k, rewards))
        population = ComplianceTypes(name, arms, people)
        one = None if isinstance(effect, Mapping) else effect
        return Scenario(name, population, null or null_of(population), one, compliance, shift, baseline, average)


def _rewards(name: str, kind: str, baseline: float, shift: float, gains: Sequence[float]) -> tuple[float, ...]:
    """Return the mean outcomes of one kind of people, by arm taken."""
    means = tuple(baseline + shift + gain for gain in gains)
    for mean, gain in zip(means, gains, strict=True):
        if not -_ROUNDING <= mean <= 1.0 + _ROUNDING:
            said = f"baseline {baseline:g}, shifted by {shift:g}, with an effect of {gain:g}"
            found = f"the mean outcome of {kind!r} would be {mean:.4g} ({said})"
            sentence = f"scenarios: in {name!r} {found}, expected from 0 to 1"
            raise InputError("scenarios", mean, "mean outcomes from 0 to 1", sentence)
    return tuple(min(max(mean, 0.0), 1.0) for mean in means)


def usual_average(baseline: float) -> float:
    """Return the default gain of half of the compliers under the average null; 0 if the baseline leaves no room.

    >>> usual_average(0.5), usual_average(1.0)
    (0.2, 0.0)
    """
    return round(0.4 * min(baseline, 1.0 - baseline), 3)


# Defaults if no scenarios are given.
USUAL_GRID = ScenarioGrid(effect=(0.1, 0.2), compliance=(1.0, 0.7), confounding=(0.2,))
LOWERING_GRID = replace(USUAL_GRID, effect=(-0.1, -0.2))  # if lower outcomes are better
USUAL_NULLS = ScenarioGrid(compliance=(1.0, 0.8, 0.6), confounding=(0.2,))  # for calibration


def _by_arm(effect: Effect, arms: tuple[str, ...], treatment: int) -> tuple[float, ...]:
    """Return the gain from taking each arm."""
    if not isinstance(effect, Mapping):
        return tuple(effect * (arm == treatment) for arm in range(len(arms)))
    for name in effect:
        if name not in arms:
            raise InputError("scenarios.effect", name, nearest(name, list(arms)))
    return tuple(float(effect.get(arm, 0.0)) for arm in arms)


def _written(effect: Effect) -> str:
    if isinstance(effect, Mapping):
        return " and ".join(f"{arm} {value:g}" for arm, value in effect.items())
    return f"{effect:g}"


def _is_any(effect: Effect) -> bool:
    return any(effect.values()) if isinstance(effect, Mapping) else bool(effect)


def _numbers(name: str, value: object) -> tuple[object, ...]:
    values = tuple(value) if isinstance(value, (list, tuple)) else (value,)
    if not values:
        raise InputError(f"scenarios.{name}", value, "at least one number")
    return values
