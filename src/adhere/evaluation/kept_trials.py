"""Stored trials of an evaluation, and the lookup of a scenario and a design."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from adhere.design.design import Design
from adhere.evaluation.characteristics.measure import selected_arms
from adhere.evaluation.characteristics.quantities import INCONCLUSIVE
from adhere.evaluation.outcomes import VIEWS, Ints, TrialOutcomes
from adhere.evaluation.scenarios.scenario import Scenario
from adhere.looks.judge import ACTIVE, NAMES
from adhere.report.numbers import counted
from adhere.simulation.results.lookup import HasFrame, ResultList, index_of

if TYPE_CHECKING:
    import polars

_STATUSES = [INCONCLUSIVE if status == ACTIVE else name for status, name in enumerate(NAMES)]


def result_index(key: object, scenarios: Sequence[Scenario], designs: Sequence[Design]) -> int:
    """Return the index of `scenario` or `scenario, design`, given names, values or indices."""
    scenario, design = key if isinstance(key, tuple) and len(key) == 2 else (key, 0)
    return _index("scenario", scenario, scenarios) * len(designs) + _index("design", design, designs)


def _index(field: str, wanted: object, values: Sequence[Scenario | Design]) -> int:
    return index_of(field, wanted, (str(getattr(wanted, "name", wanted)),), [(one.name,) for one in values])


@dataclass(frozen=True, eq=False, repr=False)
class KeptTrials(HasFrame, ResultList[TrialOutcomes]):
    """Outcomes of each trial: `to_polars()` returns a row per trial, `kept[scenario, design]` returns the arrays.

    `outcomes` are ordered like the results of an evaluation: by scenario, then by design in the order given.
    """

    designs: tuple[Design, ...]
    scenarios: tuple[Scenario, ...]
    outcomes: tuple[TrialOutcomes, ...]

    def __getitem__(self, key: object) -> TrialOutcomes:
        """Return the outcomes of a scenario, or of `scenario, design`; keys are names, values or indices."""
        return self.outcomes[result_index(key, self.scenarios, self.designs)]

    def _results(self) -> Sequence[TrialOutcomes]:
        return self.outcomes

    def __repr__(self) -> str:
        scenarios, designs = counted(len(self.scenarios), "scenario"), counted(len(self.designs), "design")
        n_trials = sum(len(one.decision) for one in self.outcomes)
        return f"KeptTrials: {n_trials:,} in all, in {scenarios} of {designs}; see .to_polars()"

    def to_polars(self) -> polars.DataFrame:
        """Return a data frame with a row for each trial.

        The columns are

        - scenario, design, trial (index from 0);
        - decision (why the trial stopped, or "inconclusive"), selected (the arm that the trial selects);
        - n_looks, sample_size, duration (in days), outcome (the mean over its patients);
        - for each arm, status_ARM, look_ARM (the look at which it got the status, from 1), n_recommended_ARM and
          n_taken_ARM (numbers of patients);
        - for each estimated arm and each estimand, estimate_ARM_ESTIMAND and covers_ARM_ESTIMAND (whether
          the any-time valid interval contains the true effect after every decision).

        Missing values are null.
        """
        from adhere.simulation.results.result_frames import labelled

        whose = [(scenario.name, design.name) for scenario in self.scenarios for design in self.designs]
        designs = self.designs * len(self.scenarios)
        columns = [list(_columns(*one)) for one in zip(designs, self.outcomes, strict=True)]
        return labelled(("scenario", "design"), whose, columns)


def _columns(design: Design, trials: TrialOutcomes) -> Iterator[polars.Series]:
    control = None if design.control is None else design.arms.index(design.control)
    import polars

    yield polars.Series("trial", np.arange(len(trials.decision)))
    yield _words("decision", trials.decision, _STATUSES)
    yield _words("selected", selected_arms(trials, control), design.arms)
    yield polars.Series("n_looks", trials.n_looks)
    yield polars.Series("sample_size", trials.n_patients)
    yield polars.Series("duration", trials.days)
    yield polars.Series("outcome", trials.reward / trials.n_patients)
    for arm, name in enumerate(design.arms):
        yield _words(f"status_{name}", trials.status[:, arm], _STATUSES)
        look = polars.Series(f"look_{name}", trials.status_at[:, arm] + 1)
        yield look.set(look == 0, None)
        yield polars.Series(f"n_recommended_{name}", trials.chosen[:, arm])
        yield polars.Series(f"n_taken_{name}", trials.taken[:, arm])
    for arm, name in enumerate(design.arms):
        if arm == (control or 0):  # the others are compared with it
            continue
        for view in design.estimands:
            place = VIEWS.index(view)
            yield polars.Series(f"estimate_{name}_{view}", trials.estimate[:, arm, place], nan_to_null=True)
            covers = polars.Series(f"covers_{name}_{view}", trials.covers[:, arm, place], nan_to_null=True)
            yield covers.cast(polars.Boolean)


def _words(name: str, codes: Ints, words: Sequence[str]) -> polars.Series:
    import polars

    return polars.Series(name, np.array(words)[codes], dtype=polars.Enum(words))
