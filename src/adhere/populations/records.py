"""Populations from records of patients or counts: reading them, and estimates from them.

The columns are `chosen, actual, reward[, count]`, in any order and case. The CDISC names `TRTP, TRTA, AVAL[, N]`,
`ARM, ACTARM, AVAL` and `TRT01P, TRT01A, AVAL` are also recognised, and any columns can be named explicitly. Other
columns are ignored. Without a count (or `n`), each row is one patient. The arms are those that were chosen, control
first, in the order described in `adhere.records.arms`. Every arm taken must be one of them.

Missing values are an empty cell, NA, N/A, NaN, null or a point, in any case. An arm cannot have such a name, unless a
column PROB_… shows that the arm exists, as in an export. A patient who took none of the arms has "took nothing" or
"took something else" instead of the arm taken.

A table written by `adhere trial export` has further columns:

- TRTASTAT: who took none of the arms
- WITHDFL: who was lost to follow-up
- INERRFL: what was entered in error
- TRTADTYP and DTYPE: what is only assumed
- LOWERFL: whether a lower outcome is better; an outcome y is then read as 1 − y

Its arms are unescaped (`adhere.csv_cells`). An example of a table::

    chosen,actual,reward,count
    none,none,1,8666
    none,none,0,901
    none,aspirin,1,135
    aspirin,aspirin,1,8163
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

import numpy as np

from adhere.errors import InputError, nearest
from adhere.intervals import RewardSums, wilson
from adhere.populations.counts import Count, Counts
from adhere.records.arms import arm_names, ordered_arms, read_labels
from adhere.records.column_roles import EXPORTED, LOWER, exported_columns, find_columns
from adhere.records.table import open_table

if TYPE_CHECKING:
    from adhere.records.cells import Cells


@dataclass(frozen=True)
class Estimated:
    """A share or a mean among n patients, with its interval. The value is None if there are no patients."""

    n: int
    value: float | None
    low: float
    high: float


@dataclass(frozen=True)
class TakenCell:
    """Patients with the same arm chosen who took the same arm or none: number, share, and mean reward if known."""

    chosen: str
    taken: Taken
    share: Estimated
    mean: Estimated
    n: int


def taken_cells(records: Records) -> list[TakenCell]:
    """Return what was taken, for each chosen arm. Shares are among the patients for whom what they took is known."""
    others = [kind for kind in NoArm if any(record.taken is kind for record in records.patients if record.chosen)]
    takable: list[Taken] = [*records.arms, *others]
    cells = []
    for chosen in records.arms:
        group = {record: count for record, count in records.patients.items() if record.chosen == chosen}
        known = sum(count for record, count in group.items() if record.taken is not NoArm.UNKNOWN)
        for taken in takable:
            members = {record: count for record, count in group.items() if record.taken == taken}
            n = sum(members.values())
            if isinstance(taken, NoArm) and not n:
                continue
            has_share = known and taken is not NoArm.UNKNOWN
            share = Estimated(known, n / known, *wilson(n, known)) if has_share else Estimated(0, None, 0.0, 1.0)
            cells.append(TakenCell(chosen, taken, share, _mean(members), n))
    return cells


def means_by_protocol(records: Records) -> dict[str, dict[str, Estimated]]:
    """Return the mean reward of each arm: by arm chosen, by arm taken, and among patients who took the chosen arm.

    Each mean includes every patient with the data it needs. The first needs only an outcome.
    """
    known = {record: count for record, count in records.patients.items() if record.chosen}

    def means(arm_of: Any) -> dict[str, Estimated]:
        return {
            arm: _mean({record: count for record, count in known.items() if arm_of(record) == arm})
            for arm in records.arms
        }

    return {
        "chosen": means(lambda record: record.chosen),
        "actual": means(lambda record: record.taken),
        "comply": means(lambda record: record.chosen if record.chosen == record.taken else None),
    }


def records_json(records: Records) -> dict[str, Any]:
    """Return everything that is known about a table's records, as plain values."""
    left_out = records.left_out()
    return {
        "name": records.name,
        "arms": list(records.arms),
        "columns": dict(records.columns),
        "n_patients": records.total(),
        "used": records.total() - sum(left_out.values()),
        "left_out": left_out,
        "lost_to_follow_up": records.lost,
        "imputed": dict(records.imputed),
        "lower_is_better": records.lower_is_better,
        "compliance": [
            {
                "chosen": cell.chosen,
                "actual": cell.taken.value if isinstance(cell.taken, NoArm) else cell.taken,
                "n": cell.n,
                "outcomes": cell.mean.n,
                "share": asdict(cell.share),
                "mean": asdict(cell.mean),
            }
            for cell in taken_cells(records)
        ],
        "means": [
            {"protocol": protocol, "arm": arm, **asdict(mean)}
            for protocol, means in means_by_protocol(records).items()
            for arm, mean in means.items()
        ],
    }


def _mean(patients: dict[Record, int]) -> Estimated:
    sums = RewardSums()
    for record, count in patients.items():
        if record.reward is not None and count:
            sums.add(record.reward, count)
    return Estimated(sums.n, *sums.estimate())


LOWER_IS_BETTER: Final = "lower outcomes are better: every outcome y is read as 1 − y"


class NoArm(Enum):
    """Codes for patients who took none of the arms, or for whom the arm taken is not known."""

    NOTHING = "took nothing"
    OTHER = "took something else"
    UNKNOWN = "not known"


Taken: TypeAlias = str | NoArm


class Record(NamedTuple):
    """One patient: the arm chosen ("" if missing), what was taken, and the reward (None if missing)."""

    chosen: str
    taken: Taken
    reward: float | None


@dataclass(frozen=True)
class Records:
    """Numbers of patients of each kind, and where they were read.

    `columns` says which column was read for each role, and `unit` whether a row is a patient or a count. `lost` is
    the number of patients without an outcome who are marked as lost to follow-up. `in_error` is the number entered in
    error, who are not among `patients`. `imputed` counts the outcomes and arms taken that the table marks as assumed
    by a rule. `arm_order` explains the order of arms and the control. With `lower_is_better`, rewards are 1 − the
    outcome of the table. `notes` reports if a column was read as a count because it is called n, and which labels
    were read as another arm.
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
    rehearsal: bool = False
    lower_is_better: bool = False
    arm_order: str = ""
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, counts: Counts) -> Records:
        """Return the records of a population made of counts, in which nothing is missing."""
        patients = {Record(row.chosen, row.actual, row.reward): row.patients for row in counts.counts}
        return cls(counts.name, "", counts.arms, patients)

    def total(self) -> int:
        """Return the number of patients in the table, including those entered in error."""
        return sum(self.patients.values()) + self.in_error

    def left_out(self) -> dict[str, int]:
        """Return the numbers of patients left out of the population, by reason. Each patient counts once."""
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
        """Return a note on what readers may not expect: a column read as a count, labels, patients left out."""
        said = ["these are records of a rehearsal, not data of a trial"] if self.rehearsal else []
        said += [LOWER_IS_BETTER] if self.lower_is_better else []
        said += self.notes
        if reasons := self.left_out():
            listed = ", ".join(f"{count:,} {reason}" for reason, count in reasons.items())
            said.append(f"{sum(reasons.values()):,} of {self.total():,} {self.unit} left out: {listed}")
        return f"{self.source}: {'; '.join(said)}" if said else ""

    def population(self) -> Counts:
        """Return the population of patients with a known assigned arm, arm taken and outcome."""
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


_STATUS = {"NOTHING": NoArm.NOTHING, "OTHER": NoArm.OTHER}
_IN_WORDS = {kind.value: kind for kind in _STATUS.values()}


def read_records(
    given: object,
    name: str | None = None,
    *,
    arms: Sequence[object] | None = None,
    control: str | float | None = None,
    lower_is_better: bool | None = None,
    **columns: str | None,
) -> Records:
    """Return the records of a frame or a file; `columns` names the columns for chosen, actual, reward and count.

    With `lower_is_better`, which defaults to what the table says, an outcome y is read as 1 − y.
    """
    if lower_is_better not in (None, True, False):
        raise InputError("lower_is_better", lower_is_better, "True or False")
    from adhere.records.cells import Cells

    table = open_table(given, "as_population")
    found = find_columns(table.source, table.titles, columns, table.hint)
    roles = {**found, **exported_columns(table.titles, found, (*EXPORTED, LOWER))}
    read = table.columns(list(roles.values()))
    cells = {role: Cells(table, title, read[title]) for role, title in roles.items()}

    listed = [title.removeprefix("PROB_") for title in table.titles if title.startswith("PROB_")]
    labels = read_labels(cells["chosen"], listed, [] if arms is None else arm_names(arms))
    chosen, assigned = labels.numbers, labels.names
    if not len(chosen):
        raise InputError(table.source, "no rows", "at least one row below the header")
    categories = cells["chosen"].categories
    titled = listed if set(listed) == set(assigned) else []
    order = ordered_arms(assigned, arms=arms, control=control, categories=categories, probabilities=titled)
    order = order.control_first() if assigned else order
    counts, by_name = np.ones(len(chosen), dtype=np.int64), ""
    if "count" in cells:
        counts, by_name = cells["count"].patients(is_named=bool(columns.get("count")))
    is_marked = LOWER in cells and cells[LOWER].lower_is_better()
    is_lower = is_marked if lower_is_better is None else lower_is_better
    rewards = 1.0 - cells["reward"].rewards() if is_lower else cells["reward"].rewards()
    taken, meanings, notes = _taken(cells, listed, assigned)
    for number, arm in enumerate(meanings):
        if isinstance(arm, str) and arm not in assigned and np.any(taken == number):
            place, expected = table.place(int(np.argmax(taken == number))), nearest(arm, order.names)
            sentence = (
                f"{table.source}, {place}: arm {arm!r} was taken but never assigned; expected {expected}, or"
                f" {' or '.join(_IN_WORDS)}"
            )
            raise InputError(f"{table.source}, {place}", arm, expected, sentence)

    def marked(title: str, word: str) -> Any:
        return cells[title].equals(word) if title in cells else np.zeros(len(chosen), dtype=np.bool_)

    in_error = marked("INERRFL", "Y")
    n_in_error, counts = int(counts[in_error].sum()), np.where(in_error, 0, counts)
    imputed = {
        part: int(counts[marked(title, "IMPUTED")].sum())
        for part, title in (("arms taken", "TRTADTYP"), ("outcomes", "DTYPE"))
    }
    return Records(
        name=name or table.name,
        source=table.source,
        arms=order.names,
        patients=_counted([*assigned, ""], chosen, meanings, taken, rewards, counts, ~in_error),
        columns=found,
        unit="patients" if "count" in found else "rows",
        lost=int(counts[np.isnan(rewards) & marked("WITHDFL", "Y")].sum()),
        in_error=n_in_error,
        imputed={part: n for part, n in imputed.items() if n},
        separator=table.separator,
        rehearsal=bool(marked("REHEARSAL", "Y").any()),
        lower_is_better=is_lower,
        arm_order=order.sentence if assigned else "",
        notes=tuple(dict.fromkeys((*([by_name] if by_name else []), *labels.notes, *notes))),
    )


def _taken(
    cells: dict[str, Cells], listed: Sequence[str], assigned: Sequence[str]
) -> tuple[Any, list[Taken], tuple[str, ...]]:
    """Return the index of what was taken in each row, its meanings by index (the last one, -1, is "not known"), and
    notes.
    """
    labels = read_labels(cells["actual"], listed, assigned)
    taken = labels.numbers
    meanings: list[Taken] = [_IN_WORDS.get(name.lower(), name) for name in labels.names]
    if "TRTASTAT" in cells:
        for word, kind in _STATUS.items():
            taken = np.where(cells["TRTASTAT"].equals(word), len(meanings), taken)
            meanings.append(kind)
    return taken, [*meanings, NoArm.UNKNOWN], labels.notes


def _counted(
    arms: list[str], chosen: Any, meanings: list[Taken], taken: Any, rewards: Any, counts: Any, kept: Any
) -> Any:
    """Return the number of patients of each kind, in order of first appearance."""
    import polars as pl

    columns = {"chosen": chosen, "taken": taken, "reward": rewards, "count": counts}
    rows = pl.DataFrame({name: column[kept] for name, column in columns.items()})
    kinds = rows.group_by("chosen", "taken", "reward", maintain_order=True).agg(pl.col("count").sum())
    patients: dict[Record, int] = defaultdict(int)
    for arm, what, reward, count in kinds.rows():
        patients[Record(arms[arm], meanings[what], None if np.isnan(reward) else reward)] += count
    return dict(patients)
