"""Flow of patients: the arms assigned, what was taken, and which outcomes are known."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

import numpy as np

from adhere.analysis.cells import cells_of
from adhere.analysis.estimates import ConfidenceSet, Quantity
from adhere.analysis.records import NOT_KNOWN, TOOK_NOTHING, TOOK_OTHER, Bools, Records
from adhere.intervals import wilson
from adhere.report.numbers import counted

ALL_ARMS = "all arms"


@dataclass(frozen=True)
class ArmFlow:
    """Patients assigned to one arm, split by what they took and, separately, by what is known of their outcome.

    - By treatment taken, `assigned` is the sum of `took_it`, all of `took_others`, `took_nothing` (none of the arms),
      `took_other` (something else), `not_reported` (no report yet), and `lost` (lost to follow-up before the report).
    - By outcome, `assigned` is the sum of `outcome_known`, `outcome_imputed` and `outcome_missing`. `outcome_lost` of
      the missing ones were lost to follow-up; the others may still be reported.
    - `taken_imputed` is the number of patients for whom a rule of the trial filled in the treatment taken.
    - `compliance` is the share of patients with a report who took the arm. `matrix` has the share who took each
      arm (it is empty for all arms together); `nothing` and `something_else` have the other shares.
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
    nothing: Quantity
    something_else: Quantity

    @property
    def crossed_over(self) -> int:
        """Number of patients who took another arm."""
        return sum(self.took_others.values())


@dataclass(frozen=True)
class Flow:
    """Flow of patients by arm and in total, with the rows that no analysis can use."""

    arms: tuple[ArmFlow, ...]
    total: ArmFlow
    left_out: Mapping[str, int]
    notes: tuple[str, ...]


def flow(records: Records, level: float = 0.95) -> Flow:
    """Count the patients of each arm: what they took, and which outcomes are known."""
    taken = cells_of(records).patients.tolist()  # codes below 0 count from the end of a row
    has_actual, has_reward = records.actual != NOT_KNOWN, records.has_reward
    lost = _flags(records, records.lost)
    lost_before_taken = _count(records, lost & ~has_actual)
    taken_imputed = _count(records, _flags(records, records.imputed_actual) & has_actual)
    outcome_imputed = _count(records, _flags(records, records.imputed_reward) & has_reward)
    outcome_missing, outcome_lost = _count(records, ~has_reward), _count(records, lost & ~has_reward)
    arms = []
    for arm, name in enumerate(records.arms):
        row = taken[arm]
        assigned, n_reported = sum(row), sum(row) - row[NOT_KNOWN]
        shares = {
            code: _share(row[code], n_reported, level, name, assigned)
            for code in (*range(records.n_arms), TOOK_NOTHING, TOOK_OTHER)
        }
        arms.append(
            ArmFlow(
                arm=name,
                assigned=assigned,
                took_it=row[arm],
                took_others={other: row[number] for number, other in enumerate(records.arms) if number != arm},
                took_nothing=row[TOOK_NOTHING],
                took_other=row[TOOK_OTHER],
                not_reported=row[NOT_KNOWN] - lost_before_taken[arm],
                lost=lost_before_taken[arm],
                taken_imputed=taken_imputed[arm],
                outcome_known=assigned - outcome_imputed[arm] - outcome_missing[arm],
                outcome_imputed=outcome_imputed[arm],
                outcome_missing=outcome_missing[arm],
                outcome_lost=outcome_lost[arm],
                compliance=shares[arm],
                matrix={other: shares[number] for number, other in enumerate(records.arms)},
                nothing=shares[TOOK_NOTHING],
                something_else=shares[TOOK_OTHER],
            )
        )
    return Flow(tuple(arms), _total(arms, level), dict(records.left_out), _notes(records, arms))


def _flags(records: Records, flags: Bools | None) -> Bools:
    return np.zeros(len(records), dtype=np.bool_) if flags is None else flags


def _count(records: Records, kept: Bools) -> list[int]:
    return [int(n) for n in np.bincount(records.chosen[kept], records.patients[kept], records.n_arms)]


def _share(count: int, n: int, level: float, arm: str, assigned: int) -> Quantity:
    if n:
        return Quantity(count / n, (ConfidenceSet(*wilson(count, n, level), "Wilson", level=level),), n)
    reason = f"what patients assigned to {arm} took is not known" if assigned else f"nobody was assigned to {arm}"
    return Quantity(None, reason=reason)


def _total(arms: Sequence[ArmFlow], level: float) -> ArmFlow:
    names = [one.name for one in fields(ArmFlow) if one.type is int]
    numbers = {name: sum(getattr(arm, name) for arm in arms) for name in names}
    others = {other.arm: sum(arm.took_others.get(other.arm, 0) for arm in arms) for other in arms}
    n_reported = numbers["assigned"] - numbers["not_reported"] - numbers["lost"]
    compliance, nothing, something_else = (
        _share(numbers[name], n_reported, level, ALL_ARMS, numbers["assigned"])
        for name in ("took_it", "took_nothing", "took_other")
    )
    return ArmFlow(
        arm=ALL_ARMS,
        took_others=others,
        compliance=compliance,
        matrix={},
        nothing=nothing,
        something_else=something_else,
        **numbers,
    )


def _notes(records: Records, arms: Sequence[ArmFlow]) -> tuple[str, ...]:
    notes = [f"Left out: {counted(count, 'row')} {reason}." for reason, count in records.left_out.items() if count]
    for arm in arms:
        takers = arm.took_it + sum(other.took_others.get(arm.arm, 0) for other in arms)
        if not arm.assigned:
            notes.append(f"Nobody was assigned to {arm.arm}, so nothing can be said about assigning it.")
        if not takers and any(other.compliance.n for other in arms):
            notes.append(f"Nobody took {arm.arm}, so nothing can be said about taking it.")
    return tuple(notes)
