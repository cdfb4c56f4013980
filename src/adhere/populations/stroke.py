"""The International Stroke Trial: aspirin (two arms) and heparin (three arms), survival at 14 days.

The package includes the counts (`data/stroke.csv`), and `counts_from_published` derives them again from the published
file. Data: Sandercock, Niewada, Członkowska (2011), doi 10.7488/ds/104, licence ODC-By.
"""

import csv
from collections import Counter
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple, TypeVar

from adhere.errors import InputError
from adhere.populations.counts import Count, Counts
from adhere.records.csv_rows import columns, csv_rows

T = TypeVar("T")

SOURCE = (
    "Sandercock, Niewada, Członkowska (2011), International Stroke Trial database (version 2), "
    "University of Edinburgh, doi 10.7488/ds/104, licence ODC-By"
)

ARMS = {"aspirin": ("none", "aspirin"), "heparin": ("none", "low", "medium")}

# What non-compliers took, by the arm allocated: the paper's rule (section 4.1).
_TAKEN_INSTEAD = {
    "aspirin": {"none": "aspirin", "aspirin": "none"},
    "heparin": {"none": "low", "low": "none", "medium": "none"},
}

# Codes of allocation and compliance in the published file, for each trial.
_COLUMNS = {"aspirin": ("RXASP", "CMPLASP"), "heparin": ("RXHEP", "CMPLHEP")}
_ALLOCATION = {
    "aspirin": {"N": "none", "Y": "aspirin"},
    "heparin": {"N": "none", "L": "low", "M": "medium", "H": "medium"},
}
_COMPLIED = {"Y": True, "N": False, "": None}
_DEAD_COLUMN = "ID14"
_DEAD = {"0": False, "1": True}


class StrokeCount(NamedTuple):
    """Survivors and deaths within 14 days among patients with the same allocated arm and arm taken."""

    trial: str
    allocated: str
    taken: str
    survived: int
    died: int

    @property
    def patients(self) -> int:
        """Number of patients."""
        return self.survived + self.died


def shipped_counts() -> tuple[StrokeCount, ...]:
    """Return the counts that come with the package, for both trials."""
    text = (files("adhere.populations") / "data" / "stroke.csv").read_text(encoding="utf-8")
    return tuple(
        StrokeCount(row["trial"], row["allocated"], row["taken"], int(row["survived"]), int(row["died"]))
        for row in csv.DictReader(text.splitlines())
    )


def counts_from_published(path: str | Path) -> tuple[StrokeCount, ...]:
    """Return the counts of both trials from the published file (`.csv` or `.csv.gz`, one row per patient).

    Patients whose compliance with either treatment is unknown are left out, as in the paper.
    """
    path = Path(path)
    # Only remarks, which are not used here, may contain bytes that are not UTF-8.
    rows = csv_rows(path, errors="replace")
    _, header, _ = next(rows)
    place = columns(path, header, [*_COLUMNS["aspirin"], *_COLUMNS["heparin"], _DEAD_COLUMN])
    tally: Counter[tuple[str, str, str, bool]] = Counter()
    for line, cells, _ in rows:
        value = {column: _Cell(f"{path}, line {line}, column {column}", cells[i]) for column, i in place.items()}
        complied = {trial: value[column].decode(_COMPLIED) for trial, (_, column) in _COLUMNS.items()}
        dead = value[_DEAD_COLUMN].decode(_DEAD)
        if None in complied.values():
            continue
        for trial, (column, _) in _COLUMNS.items():
            allocated = value[column].decode(_ALLOCATION[trial])
            taken = allocated if complied[trial] else _TAKEN_INSTEAD[trial][allocated]
            tally[trial, allocated, taken, dead] += 1
    return tuple(
        StrokeCount(trial, allocated, taken, *(tally[trial, allocated, taken, dead] for dead in (False, True)))
        for trial, arms in ARMS.items()
        for allocated in arms
        for taken in arms
        if taken in (allocated, _TAKEN_INSTEAD[trial][allocated])
    )


class _Cell(NamedTuple):
    where: str
    text: str

    def decode(self, codes: Mapping[str, T]) -> T:
        if self.text not in codes:
            raise InputError(self.where, self.text, "one of " + ", ".join(code or "blank" for code in codes))
        return codes[self.text]


def stroke_aspirin(path: str | Path | None = None) -> Counts:
    """Return the aspirin trial, none against aspirin, from the shipped counts or from the published file.

    >>> stroke_aspirin().mean_given_chosen().round(4).tolist()
    [0.9064, 0.9103]
    """
    return _population("aspirin", path)


def stroke_heparin(path: str | Path | None = None) -> Counts:
    """Return the heparin trial, none against low against medium, from the shipped counts or from the published
    file.
    """
    return _population("heparin", path)


def _population(trial: str, path: str | Path | None) -> Counts:
    counts = shipped_counts() if path is None else counts_from_published(path)
    rows = [row for row in counts if row.trial == trial]
    survivors = [Count(row.allocated, row.taken, 1.0, row.survived) for row in rows]
    dead = [Count(row.allocated, row.taken, 0.0, row.died) for row in rows]
    return Counts(f"stroke-{trial}", ARMS[trial], survivors + dead, source=SOURCE)
