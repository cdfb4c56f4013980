"""Where to start from: the paper's examples and the stroke trial, as shares and rewards of four compliance types."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Final, NamedTuple

from adhere.errors import InputError, nearest
from adhere.exploration.groups import ALWAYS, COMPLIERS, DEFIERS, NAMES, NEVER, Group
from adhere.populations import (
    ComplianceTypes,
    Counts,
    corrective,
    defiers,
    homogeneous,
    rich_and_poor,
    stroke_aspirin,
)

_DECIMALS = 2  # of the rewards that an empty compliance type starts with


class Preset(NamedTuple):
    """A named setting of the compliance types, and what it shows."""

    name: str
    title: str
    about: str
    make: Callable[[], tuple[Group, ...]]


def _of_types(population: ComplianceTypes) -> tuple[Group, ...]:
    """A population's compliance types by behaviour; one that is empty starts with the others' average rewards."""
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
    """The compliance types that fit the counts if nobody defies (Angrist, Imbens and Rubin 1996).

    For each arm recommended they give the same probabilities of (arm taken, reward) as the counts, so policies learn
    and earn the same. What never-takers would gain by the treatment and always-takers without it is never seen; here
    it is the same as what is seen of them.
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
    """The compliance types of a preset.

    >>> [round(group.share, 3) for group in preset_groups("stroke-aspirin")]
    [0.081, 0.015, 0.905, 0.0]
    """
    for preset in PRESETS:
        if preset.name == name:
            return preset.make()
    raise InputError("preset", name, nearest(name, [preset.name for preset in PRESETS]))
