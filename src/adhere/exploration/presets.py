"""Settings to explore: compliance types, and presets from the paper's examples and the stroke trial."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Final, NamedTuple

from adhere.checks import check_integer, check_sums_to_one, check_unit_number
from adhere.errors import InputError, nearest
from adhere.exploration import policies as choices
from adhere.populations import (
    ComplianceType,
    ComplianceTypes,
    Counts,
    corrective,
    defiers,
    homogeneous,
    rich_and_poor,
    stroke_aspirin,
)
from adhere.populations.compliance_types import BEHAVIOURS
from adhere.populations.examples import ARMS
from adhere.randomness import check_seed
from adhere_client.responses.simulations import ExplorationSettings, ExploredGroup

CONTROL, TREATMENT = 0, 1
NAMES: Final = {f"{name}s": takes for name, takes in BEHAVIOURS.items()}  # "never-takers": (0, 0), …
NEVER, ALWAYS, COMPLIERS, DEFIERS = NAMES


class Group(ExploredGroup, frozen=True):
    """Compliance type with the arms that it takes and its rewards."""

    @property
    def takes(self) -> tuple[int, ...]:
        """Arm taken for each arm recommended."""
        return NAMES[self.name]

    @property
    def rewards(self) -> tuple[float, float]:
        """Mean reward for each arm taken."""
        return self.control, self.treatment


def check_groups(groups: Sequence[Group]) -> None:
    """Refuse shares and rewards that are not from 0 to 1, and shares that do not add up to 1."""
    if [group.name for group in groups] != list(NAMES):
        raise InputError("groups", [group.name for group in groups], f"{', '.join(NAMES)}, in this order")
    for group in groups:
        for field, value in zip(fields_of(group.name), (group.share, *group.rewards), strict=True):
            check_unit_number(field, value)
    shares = [group.share for group in groups]
    try:
        check_sums_to_one("shares", shares)
    except InputError:
        sentence = f"the shares of {', '.join(NAMES)} add up to {sum(shares):.6g}; they must add up to 1"
        raise InputError(NEVER.replace("-", "_"), f"{sum(shares):.6g}", "shares that add up to 1", sentence) from None


def fields_of(name: str) -> tuple[str, str, str]:
    """Return the names in a URL of a compliance type's share and of its two mean rewards."""
    word = name.replace("-", "_")
    return word, f"{word}_control", f"{word}_treatment"


def population_of(groups: Sequence[Group]) -> ComplianceTypes:
    """Return the groups as a population for `adhere.simulate`."""
    types = [ComplianceType(group.name, group.share, group.takes, group.rewards) for group in groups]
    return ComplianceTypes("explored", ARMS, types)


_DECIMALS = 2  # decimals of the initial rewards of an empty compliance type


class Preset(NamedTuple):
    """Named setting of the compliance types, with a description of what it shows."""

    name: str
    title: str
    about: str
    make: Callable[[], tuple[Group, ...]]


def _of_types(population: ComplianceTypes) -> tuple[Group, ...]:
    """Return a population's compliance types by behaviour; a type without people starts with the average rewards."""
    total = [0.0, 0.0]
    for one in population.types:
        for arm, mean in enumerate(one.reward):
            total[arm] += one.probability * (mean or 0.0)
    found = {one.takes: one for one in population.types}
    groups = []
    for name, takes in NAMES.items():
        if takes in found:
            control, treatment = (mean or 0.0 for mean in found[takes].reward)
            groups.append(Group(name, found[takes].probability, control, treatment))
        else:
            groups.append(Group(name, 0.0, *(round(mean, _DECIMALS) for mean in total)))
    return tuple(groups)


def _of_counts(population: Counts) -> tuple[Group, ...]:
    """Return the compliance types that fit the counts without defiers (Angrist, Imbens and Rubin 1996).

    For each arm recommended they have the same probabilities of (arm taken, reward) as the counts, so that policies
    learn and earn the same. Rewards of never-takers with the treatment and of always-takers without it are never
    seen; they are set to their observed rewards.
    """
    compliance, mass = population.compliance(), population.reward_mass()
    always, never = float(compliance[0, 1]), float(compliance[1, 0])
    compliers = 1.0 - always - never
    always_mean, never_mean = float(mass[0, 1]) / always, float(mass[1, 0]) / never
    return (
        Group(NEVER, never, never_mean, never_mean),
        Group(ALWAYS, always, always_mean, always_mean),
        Group(COMPLIERS, compliers, *((float(mass[a, a]) - float(mass[1 - a, a])) / compliers for a in (0, 1))),
        Group(DEFIERS, 0.0, always_mean, always_mean),
    )


PRESETS: Final = (
    Preset(
        "rich-and-poor",
        "Rich and poor",
        "The paper's Example 2: a harmful treatment that the healthy rich take anyway.",
        lambda: _of_types(rich_and_poor()),
    ),
    Preset(
        "defiers",
        "Defiers",
        "The paper's Example 1: everybody does the opposite of what they are told, and the treatment always helps.",
        lambda: _of_types(defiers()),
    ),
    Preset(
        "corrective",
        "Those who know better",
        "Section 2 of the paper, with our numbers: those who gain by the treatment take it, those it harms do not.",
        lambda: _of_types(corrective()),
    ),
    Preset(
        "homogeneous",
        "Everybody alike",
        "Section 2 of the paper: everybody responds alike and complies with probability 0.7.",
        lambda: _of_types(homogeneous()),
    ),
    Preset(
        "stroke-aspirin",
        "Stroke trial, aspirin",
        "The International Stroke Trial, alive at 14 days, treatment: aspirin. These compliance types fit its counts"
        " if nobody defies; what aspirin would do for those who never take it was not seen, and is set to nothing.",
        lambda: _of_counts(stroke_aspirin()),
    ),
)
DEFAULT: Final = PRESETS[0].name


@cache
def preset_groups(name: str) -> tuple[Group, ...]:
    """Return the compliance types of a preset.

    >>> [round(group.share, 3) for group in preset_groups("stroke-aspirin")]
    [0.081, 0.015, 0.905, 0.0]
    """
    for preset in PRESETS:
        if preset.name == name:
            return preset.make()
    raise InputError("preset", name, nearest(name, [preset.name for preset in PRESETS]))


MAX_PATIENTS: Final = 10_000
MAX_RUNS: Final = 2_000
MAX_PATIENTS_IN_ALL: Final = 2_000_000  # for one policy, takes a few tenths of a second
MAX_SEED: Final = 10**15 - 1


class Settings(ExplorationSettings, frozen=True, omit_defaults=False):
    """Settings of an exploration.

    >>> Settings(n_runs=1, n_patients=20).policies[1]
    'thompson/actual'
    """

    groups: tuple[Group, ...] = preset_groups(DEFAULT)
    policies: tuple[str, ...] = choices.DEFAULT
    n_patients: int = 1_000
    n_runs: int = 1_000
    seed: int = 0

    def __post_init__(self) -> None:
        check_groups(self.groups)
        choices.check_policies(self.policies)
        check_integer("patients", self.n_patients, 10, MAX_PATIENTS)
        check_integer("runs", self.n_runs, 1, MAX_RUNS)
        check_integer("seed", check_seed(self.seed), 0, MAX_SEED)
        if self.n_runs * self.n_patients > MAX_PATIENTS_IN_ALL:
            sentence = (
                f"{self.n_runs:,} runs of {self.n_patients:,} patients are too many to show at once: at most"
                f" {MAX_PATIENTS_IN_ALL:,} patients in all (`adhere simulate` takes any number)"
            )
            expected = f"at most {MAX_PATIENTS_IN_ALL // self.n_patients:,} with so many patients"
            raise InputError("runs", self.n_runs, expected, sentence)
