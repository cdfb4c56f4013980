"""Who was assigned what, what became of them, and how many took what they were assigned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from adhere.analysis.confidence_set import Quantity
from adhere.analysis.records import Records


@dataclass(frozen=True)
class ArmFlow:
    """The patients assigned to one arm, split twice: by what they took, and by what is known of their outcome.

    By what they took: `assigned` is `took_it` + all of `took_others` + `took_nothing` (nothing in the arm set) +
    `took_other` (something else) + `not_reported` (no report yet) + `lost` (lost to follow-up before it was known).
    By outcome: `assigned` is `outcome_known` + `outcome_imputed` + `outcome_missing`; `outcome_lost` of the missing
    were lost to follow-up, the others may still be reported. `taken_imputed` says for how many a rule of the trial
    filled in what was taken. `compliance` is the share of those reported who took the arm; `matrix` the same share
    for everything that could be taken, `NOTHING` and `SOMETHING_ELSE` included.
    """

    arm: str
    assigned: int
    took_it: int
    took_others: Mapping[str, int]
    took_nothing: int
    took_other: int
    not_reported: int
    lost: int
    taken_imputed: int
    outcome_known: int
    outcome_imputed: int
    outcome_missing: int
    outcome_lost: int
    compliance: Quantity
    matrix: Mapping[str, Quantity]

    @property
    def crossed_over(self) -> int:
        """How many took another arm."""
        return sum(self.took_others.values())


@dataclass(frozen=True)
class Flow:
    """The flow of patients through the arms, all of them together, and rows that no analysis can use."""

    arms: tuple[ArmFlow, ...]
    total: ArmFlow
    left_out: Mapping[str, int]
    notes: tuple[str, ...]


def flow(records: Records, level: float = 0.95) -> Flow:
    """Count patients by the arm they were assigned."""
    raise NotImplementedError
