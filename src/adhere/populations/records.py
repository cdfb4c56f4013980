"""What a table says of each patient: the arm assigned, what was taken, and the outcome, as far as they are known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, NamedTuple, TypeAlias

from adhere.errors import InputError
from adhere.populations.counts import Count, Counts

LOWER_IS_BETTER: Final = "lower outcomes are better: every outcome y is read as 1 − y"


class NoArm(Enum):
    """What was taken if it was none of the arms, or is not known."""

    NOTHING = "took nothing"
    OTHER = "took something else"
    UNKNOWN = "not known"


Taken: TypeAlias = str | NoArm


class Record(NamedTuple):
    """One patient: the arm chosen ("" if that is missing), what was taken, and the reward (None: missing)."""

    chosen: str
    taken: Taken
    reward: float | None


@dataclass(frozen=True)
class Records:
    """How many patients there are of each kind, and where that was read.

    `columns` says which columns were read as what, `unit` whether a row is a patient or has a count of them. `lost`
    counts patients without an outcome who are marked as lost to follow-up, `in_error` those entered in error, who are
    not among `patients`; `imputed` outcomes and arms taken that the table itself marks as assumed by a rule.
    `count_by_name` is a column that was taken for the count because it is called n. `arm_order` says what decided the
    order of arms and the control, `lower_is_better` that rewards are 1 − the outcome of the table, `notes`
    which labels were read as an arm that is spelled otherwise.
    """

    name: str
    source: str
    arms: tuple[str, ...]
    patients: Mapping[Record, int]
    columns: Mapping[str, str] = field(default_factory=dict)
    unit: str = "patients"
    lost: int = 0
    in_error: int = 0
    imputed: Mapping[str, int] = field(default_factory=dict)
    separator: str = ""
    count_by_name: str = ""
    rehearsal: bool = False
    lower_is_better: bool = False
    arm_order: str = ""
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, counts: Counts) -> Records:
        """The patients of a population made of counts, of whom everything is known."""
        patients = {Record(row.chosen, row.actual, row.reward): row.patients for row in counts.counts}
        return cls(counts.name, "", counts.arms, patients)

    def total(self) -> int:
        """How many patients the table has, those entered in error included."""
        return sum(self.patients.values()) + self.in_error

    def left_out(self) -> dict[str, int]:
        """Why patients are left out of the population, and how many for each reason; each counts once."""
        found = dict.fromkeys(("without an assigned arm", "without an outcome", *_REASONS.values()), 0)
        for record, count in self.patients.items():
            if not record.chosen:
                found["without an assigned arm"] += count
            elif record.reward is None:
                found["without an outcome"] += count
            elif isinstance(record.taken, NoArm):
                found[_REASONS[record.taken]] += count
        found["entered in error"] = self.in_error
        return {reason: count for reason, count in found.items() if count}

    def note(self) -> str:
        """One sentence on what a reader may not expect: a count by its name, labels, who is left out."""
        said = ["these are records of a rehearsal, not data of a trial"] if self.rehearsal else []
        said += [LOWER_IS_BETTER] if self.lower_is_better else []
        if name := self.count_by_name:
            said.append(f"column {name} is taken as a count of patients (count={name!r} says so)")
        said += self.notes
        if reasons := self.left_out():
            listed = ", ".join(f"{count:,} {reason}" for reason, count in reasons.items())
            said.append(f"{sum(reasons.values()):,} of {self.total():,} {self.unit} left out: {listed}")
        return f"{self.source}: {'; '.join(said)}" if said else ""

    def population(self) -> Counts:
        """The patients of whom the arm assigned, an arm taken and the outcome are known, to resample from."""
        rows = [
            Count(record.chosen, record.taken, record.reward, count)
            for record, count in self.patients.items()
            if record.chosen and not isinstance(record.taken, NoArm) and record.reward is not None
        ]
        if not rows:
            sentence = f"{self.source}: no row has an assigned arm, an arm taken and an outcome"
            raise InputError(self.source, 0, "at least one patient", sentence)
        try:
            direction = f"; {LOWER_IS_BETTER}" if self.lower_is_better else ""
            return Counts(self.name, self.arms, rows, arm_order=self.arm_order + direction)
        except InputError as error:
            raise InputError(f"{self.source}, {error.field}", error.value, error.expected) from None


_REASONS = {
    NoArm.UNKNOWN: "without the arm taken",
    NoArm.NOTHING: "that took nothing",
    NoArm.OTHER: "that took something else",
}
