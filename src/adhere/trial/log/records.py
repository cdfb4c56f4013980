"""Turn a trial's recommendations and reports into records for analysis."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

import numpy as np

from adhere.analysis.records import (
    IN_ERROR,
    NEVER,
    NOT_KNOWN,
    Floats,
    Records,
    digest_of,
    missing_probabilities,
    repeated_subjects,
)
from adhere.design.design import Design
from adhere.records.arms import control_of, sorted_names
from adhere.store import ReadTransaction
from adhere.trial.domain.events import Recommended, decode
from adhere.trial.domain.history import History, history_of
from adhere.trial.domain.log_records import read_histories

_AT_ONCE: Final = 2000
_BLINDED: Final = "This trial is blinded, and this analysis shows its arms."


def trial_records(view: ReadTransaction, trial: int, design: Design, *, by_site: bool = False) -> Records:
    """Return every recommendation of a stored trial with its current reports. `by_site` makes each site a stratum.

    The trial's exported table, read back, gives the same records with the same digest.
    """
    records = records_of_histories(design, read_histories(view, trial), by_site)
    return with_head(records, design, view.head(trial).hash.hex())


def with_head(records: Records, design: Design, head: str) -> Records:
    """Return the records with the hash of the log's last record. Add a warning if they disclose blinded arms."""
    warnings = (_BLINDED, *records.warnings) if design.blinded else records.warnings
    return replace(records, warnings=warnings, head=head)


def records_of_histories(
    design: Design, each: Iterable[tuple[Recommended, History]], by_site: bool = False
) -> Records:
    """Return the records of a trial from its recommendations in order, each with its history."""
    rows = RecordRows(len(design.arms))
    for made, history in each:
        rows.add(made, history)
    records = records_of_rows(design, rows, by_site)
    return replace(records, digest=digest_of(records))


def records_of_rows(design: Design, rows: RecordRows, by_site: bool = False) -> Records:
    """Return the records of a trial without their digest.

    Strata are the sites if `by_site` is true, and otherwise the design's strata, if there are any. The control is the
    design's, if it names one.
    """
    name, arms, design_strata = design.name, design.arms, design.strata
    layers = rows.sites if by_site else [design_strata[number] for number in rows.strata if number is not None]
    strata = sorted_names(set(layers)) if by_site or design_strata else []
    numbers = {layer: number for number, layer in enumerate(strata)}
    known = not rows.n_without_probabilities or rows.n_without_probabilities < len(rows)
    return Records(
        name=name,
        source=f"trial {name}",
        arms=arms,
        chosen=np.array(rows.chosen, dtype=np.int64),
        actual=np.array(rows.actual, dtype=np.int64),
        reward=np.array(rows.reward, dtype=np.float64),
        control=control_of(arms, design.control),
        probabilities=np.array(rows.probabilities).reshape(-1, len(arms)) if known else None,
        estimated=np.array(rows.estimated, dtype=np.bool_) if known else None,
        seen=np.array(rows.seen, dtype=np.int64),
        actual_at=np.array(rows.actual_at, dtype=np.int64),
        reward_at=np.array(rows.reward_at, dtype=np.int64),
        strata=tuple(strata),
        stratum=np.array([numbers[layer] for layer in layers], dtype=np.int64) if strata else None,
        lost=np.array(rows.lost, dtype=np.bool_),
        imputed_actual=np.array(rows.imputed_actual, dtype=np.bool_),
        imputed_reward=np.array(rows.imputed_reward, dtype=np.bool_),
        left_out={IN_ERROR: rows.n_in_error} if rows.n_in_error else {},
        warnings=tuple(rows.warnings()),
        order="that of the log",
        rehearsal=design.rehearsal,
        lower_is_better=design.lower_is_better,
        learns_by_stratum=False,  # strata only balance the blocks of the burn-in
    )


@dataclass
class RecordRows:
    """The growing columns of a trial's records. Numbers are stored in arrays, which NumPy converts without a loop."""

    n_arms: int
    number: array[int] = field(default_factory=lambda: array("q"))  # index of the recommendation
    chosen: array[int] = field(default_factory=lambda: array("q"))
    actual: array[int] = field(default_factory=lambda: array("q"))
    reward: array[float] = field(default_factory=lambda: array("d"))
    probabilities: array[float] = field(default_factory=lambda: array("d"))
    estimated: array[int] = field(default_factory=lambda: array("b"))
    seen: array[int] = field(default_factory=lambda: array("q"))
    at: array[float] = field(default_factory=lambda: array("d"))  # seconds since 1970
    actual_at: array[int] = field(default_factory=lambda: array("q"))
    reward_at: array[int] = field(default_factory=lambda: array("q"))
    lost: array[int] = field(default_factory=lambda: array("b"))
    imputed_actual: array[int] = field(default_factory=lambda: array("b"))
    imputed_reward: array[int] = field(default_factory=lambda: array("b"))
    sites: list[str] = field(default_factory=list)
    strata: list[int | None] = field(default_factory=list)
    subjects: Counter[str] = field(default_factory=Counter)
    n_in_error: int = 0
    n_without_probabilities: int = 0
    first_without: str = ""

    def __len__(self) -> int:
        return len(self.chosen)

    def add(self, made: Recommended, history: History) -> None:
        """Add a recommendation and its reports. An entry error is only counted."""
        if history.in_error:
            self.n_in_error += 1
            return
        self.number.append(made.recommendation_index)
        self.chosen.append(made.chosen)
        for column, value in self._known(history):
            column.append(value)
        self.probabilities.extend(made.probabilities or (np.nan,) * self.n_arms)
        self.estimated.append(made.estimated)
        self.seen.append(made.learned_up_to)
        self.at.append(made.at.timestamp())
        self.sites.append(made.site)
        self.strata.append(made.stratum)
        self.subjects[made.subject] += 1
        if not made.probabilities:
            self.first_without = self.first_without or made.recommendation_id
            self.n_without_probabilities += 1

    def renew(self, row: int, history: History) -> None:
        """Update a recommendation that was added before."""
        for column, value in self._known(history):
            column[row] = value

    def _known(self, history: History) -> tuple[tuple[array[Any], Any], ...]:
        actual, reward = history.actual, history.reward
        return (
            (self.actual, NOT_KNOWN if actual is None else int(actual.value)),
            (self.actual_at, NEVER if actual is None else actual.place),
            (self.imputed_actual, actual is not None and actual.imputed),
            (self.reward, np.nan if reward is None else reward.value),
            (self.reward_at, NEVER if reward is None else reward.place),
            (self.imputed_reward, reward is not None and reward.imputed),
            (self.lost, history.withdrawn),
        )

    def warnings(self) -> list[str]:
        """Return the warnings for a reader of the records."""
        said = []
        if 0 < self.n_without_probabilities < len(self):
            said.append(missing_probabilities(self.n_without_probabilities, f"recommendation {self.first_without}"))
        subjects = {subject: n for subject, n in self.subjects.items() if subject}
        if several := sum(n > 1 for n in subjects.values()):
            said.append(repeated_subjects(several, len(subjects), sum(subjects.values())))
        return said


class Renewed(NamedTuple):
    """The current records, the time of each (seconds since 1970), and the number of leading records that did not
    change.
    """

    records: Records
    at: Floats
    n_same: int

    @property
    def last_at(self) -> datetime | None:
        """The time of the last recommendation."""
        return datetime.fromtimestamp(float(self.at[-1]), UTC) if len(self.at) else None


class RunningRecords:
    """The records of one trial, updated from its log."""

    def __init__(self, trial: int, design: Design) -> None:
        self._trial, self._design = trial, design
        self._rows, self._position = RecordRows(len(design.arms)), 0

    def update(self, view: ReadTransaction) -> Renewed:
        """Return the records at the head of the log."""
        head, n_same = view.head(self._trial), len(self._rows)
        for number, bodies in self._changed(view):
            row = bisect_left(self._rows.number, number)
            if row == len(self._rows) or self._rows.number[row] != number:
                continue  # it was entered in error
            history = history_of(map(decode, bodies))
            n_same = min(n_same, row)
            if history.in_error:  # all rows after it move up
                self._rows = RecordRows(len(self._design.arms))
                break
            self._rows.renew(row, history)
        for made, history in read_histories(view, self._trial, len(self._rows) + self._rows.n_in_error):
            self._rows.add(made, history)
        self._position = head.position
        records = with_head(records_of_rows(self._design, self._rows), self._design, head.hash.hex())
        return Renewed(records, np.array(self._rows.at), n_same)

    def _changed(self, view: ReadTransaction) -> Iterator[tuple[int, list[bytes]]]:
        """Yield each known recommendation that new records are about, with all records about it."""
        changed: set[int] = set()
        while self._position and (found := view.records(self._trial, self._position, _AT_ONCE)):
            changed |= {one.recommendation_index for one in found if one.recommendation_index is not None}
            self._position = found[-1].position
        known = sorted(number for number in changed if number < len(self._rows) + self._rows.n_in_error)
        for start in range(0, len(known), _AT_ONCE):
            yield from view.histories(self._trial, known[start : start + _AT_ONCE]).items()
