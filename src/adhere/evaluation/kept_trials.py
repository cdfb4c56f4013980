"""What every trial of an evaluation left behind."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from adhere.design.design import Design
from adhere.evaluation.characteristics.outcomes import TrialOutcomes
from adhere.evaluation.lookup import place_of
from adhere.evaluation.scenarios.scenario import Scenario

if TYPE_CHECKING:
    import pandas
    import polars


@dataclass(frozen=True, eq=False, repr=False)
class KeptTrials:
    """What each trial left behind: `to_polars()` has a row for each, `kept[scenario, design]` the arrays.

    `outcomes` go scenario by scenario, in each by design in the order given, as the results of an evaluation do.
    """

    designs: tuple[Design, ...]
    scenarios: tuple[Scenario, ...]
    outcomes: tuple[TrialOutcomes, ...]

    def __getitem__(self, key: object) -> TrialOutcomes:
        """`kept[scenario]` or `kept[scenario, design]`: names, values or places; without a design the first."""
        return self.outcomes[place_of(key, self.scenarios, self.designs)]

    def __len__(self) -> int:
        return len(self.outcomes)

    def __iter__(self) -> Iterator[TrialOutcomes]:
        return iter(self.outcomes)

    def __repr__(self) -> str:
        scenarios, designs = (
            f"{len(values):,} {name}{'' if len(values) == 1 else 's'}"
            for values, name in ((self.scenarios, "scenario"), (self.designs, "design"))
        )
        n_trials = sum(len(one.decision) for one in self.outcomes)
        return f"KeptTrials: {n_trials:,} in all, in {scenarios} of {designs}; see .to_polars()"

    def to_polars(self) -> polars.DataFrame:
        """A row for each trial.

        Columns: scenario, design, trial (its number, from 0), decision (what it stopped for, or "inconclusive"),
        selected (the arm it leaves behind), n_looks, sample_size, duration (in days), outcome (the mean over its
        patients); for each arm status_ARM, look_ARM (at which it got the status, from 1), n_recommended_ARM and
        n_taken_ARM (patients); for each arm that is estimated, and each estimand, any-time valid:
        estimate_ARM_ESTIMAND and covers_ARM_ESTIMAND (whether the interval has the true effect after every
        decision). What a trial does not have is null.
        """
        from adhere.evaluation.kept_trials_table import as_polars

        return as_polars(self.designs, self.scenarios, self.outcomes)

    def to_pandas(self) -> pandas.DataFrame:
        """What `to_polars` gives, as a frame of pandas (extra `pandas`)."""
        from adhere.frames import as_pandas

        return as_pandas(self.to_polars())
