"""A trial's recommendations and what was reported of them, as records to analyse."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from adhere.analysis.reading.control import control_of
from adhere.analysis.reading.digest import digest_of
from adhere.analysis.reading.names import sorted_names
from adhere.analysis.reading.record_warnings import missing_probabilities, repeated_subjects
from adhere.analysis.records import IN_ERROR, NEVER, NOT_KNOWN, Records
from adhere.store import ReadTransaction
from adhere.trial.design import Design
from adhere.trial.events import Recommended, decode
from adhere.trial.history import History, history_of

_AT_ONCE: Final = 2000
_BLINDED: Final = "This trial is blinded, and this analysis shows its arms."


def trial_records(
    view: ReadTransaction,
    trial: int,
    design: Design,
    *,
    by_site: bool = False,
    on_progress: Callable[[int], None] = lambda n: None,
) -> Records:
    """Every recommendation of a trial in a store, with what is known of it now; with `by_site` a site is a stratum.

    The records of its exported table, read back, are the same, and have the same digest.
    """

    def each() -> Iterator[tuple[Recommended, History]]:
        first = 0
        while bodies := view.histories(trial, range(first, first + _AT_ONCE)):
            for number in sorted(bodies):
                events = [decode(body) for body in bodies[number]]
                assert isinstance(events[0], Recommended)
                yield events[0], history_of(events)
            first += _AT_ONCE
            on_progress(len(bodies))

    records = records_of_histories(design, each(), by_site)
    warnings = (_BLINDED, *records.warnings) if design.blinded else records.warnings
    return replace(records, warnings=warnings, head=view.head(trial).hash.hex())


def records_of_histories(
    design: Design, each: Iterable[tuple[Recommended, History]], by_site: bool = False
) -> Records:
    """The records of a trial from its recommendations, in order, and the history of each.

    A stratum is a site, if so wished, or one of the design's strata, if it has some. The control is the design's, if
    it has one.
    """
    name, arms, design_strata = design.name, design.arms, design.strata
    rows = _Rows()
    for made, history in each:
        rows.add(made, history)
    warnings = rows.warnings()
    layers = rows.sites if by_site else [design_strata[number] for number in rows.strata if number is not None]
    strata = sorted_names(set(layers)) if by_site or design_strata else []
    numbers = {layer: number for number, layer in enumerate(strata)}
    known = not rows.n_without_probabilities
    records = Records(
        name=name,
        source=f"trial {name}",
        arms=arms,
        chosen=np.array(rows.chosen, dtype=np.int64),
        actual=np.array(rows.actual, dtype=np.int64),
        reward=np.array(rows.reward, dtype=np.float64),
        control=control_of(arms, design.control),
        probabilities=np.array(rows.probabilities, dtype=np.float64).reshape(-1, len(arms)) if known else None,
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
        warnings=tuple(warnings),
        order="that of the log",
        rehearsal=design.rehearsal,
    )
    return replace(records, digest=digest_of(records))


@dataclass
class _Rows:
    """The columns of the records, as they grow."""

    chosen: list[int] = field(default_factory=list)
    actual: list[int] = field(default_factory=list)
    reward: list[float] = field(default_factory=list)
    probabilities: list[float] = field(default_factory=list)
    estimated: list[bool] = field(default_factory=list)
    seen: list[int] = field(default_factory=list)
    actual_at: list[int] = field(default_factory=list)
    reward_at: list[int] = field(default_factory=list)
    lost: list[bool] = field(default_factory=list)
    imputed_actual: list[bool] = field(default_factory=list)
    imputed_reward: list[bool] = field(default_factory=list)
    sites: list[str] = field(default_factory=list)
    strata: list[int | None] = field(default_factory=list)
    subjects: Counter[str] = field(default_factory=Counter)
    n_in_error: int = 0
    n_without_probabilities: int = 0
    first_without: int = 0

    def add(self, made: Recommended, history: History) -> None:
        if history.in_error:
            self.n_in_error += 1
            return
        actual, reward = history.actual, history.reward
        self.chosen.append(made.chosen)
        self.actual.append(NOT_KNOWN if actual is None else int(actual.value))
        self.actual_at.append(NEVER if actual is None else actual.place)
        self.imputed_actual.append(actual is not None and actual.imputed)
        self.reward.append(np.nan if reward is None else reward.value)
        self.reward_at.append(NEVER if reward is None else reward.place)
        self.imputed_reward.append(reward is not None and reward.imputed)
        self.probabilities += made.probabilities
        self.estimated.append(made.estimated)
        self.seen.append(made.learned_up_to)
        self.lost.append(history.withdrawn)
        self.sites.append(made.site)
        self.strata.append(made.stratum)
        self.subjects[made.subject] += 1
        if not made.probabilities:
            self.first_without = self.first_without if self.n_without_probabilities else made.recommendation_id
            self.n_without_probabilities += 1

    def warnings(self) -> list[str]:
        said = []
        if 0 < self.n_without_probabilities < len(self.chosen):
            said.append(missing_probabilities(self.n_without_probabilities, f"recommendation {self.first_without}"))
        subjects = {subject: n for subject, n in self.subjects.items() if subject}
        if several := sum(n > 1 for n in subjects.values()):
            said.append(repeated_subjects(several, len(subjects), sum(subjects.values())))
        return said
