"""The four compliance types of two arms, each with its share of the patients and its mean rewards."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final

from msgspec import Meta, Struct

from adhere.checks import check_sums_to_one, check_unit_number
from adhere.errors import InputError
from adhere.populations import ComplianceType, ComplianceTypes
from adhere.populations.compliance_types import BEHAVIOURS
from adhere.populations.examples import ARMS

CONTROL, TREATMENT = 0, 1
NAMES: Final = {f"{name}s": takes for name, takes in BEHAVIOURS.items()}  # "never-takers": (0, 0), …
NEVER, ALWAYS, COMPLIERS, DEFIERS = NAMES

UnitNumber = Annotated[float, Meta(ge=0, le=1)]


class Group(Struct, frozen=True):
    """A compliance type: its share of the patients, and its mean reward if it takes the control or the treatment."""

    name: Annotated[str, Meta(description="never-takers, always-takers, compliers or defiers")]
    share: UnitNumber
    control: UnitNumber
    treatment: UnitNumber

    @property
    def takes(self) -> tuple[int, ...]:
        """The arm taken for each arm that is recommended."""
        return NAMES[self.name]

    @property
    def rewards(self) -> tuple[float, float]:
        """The mean reward for each arm taken."""
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
    """What a compliance type's share and its two mean rewards are called in an address."""
    word = name.replace("-", "_")
    return word, f"{word}_control", f"{word}_treatment"


def population_of(groups: Sequence[Group]) -> ComplianceTypes:
    """The groups as a population, which `adhere.simulate` takes."""
    types = [ComplianceType(group.name, group.share, group.takes, group.rewards) for group in groups]
    return ComplianceTypes("explored", ARMS, types)
