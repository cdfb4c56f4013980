"""What `adhere.evaluate` found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from adhere.design.characteristics import Characteristics
from adhere.design.outcomes import TrialOutcomes
from adhere.design.scenario import Scenario
from adhere.trial.design import Design

if TYPE_CHECKING:
    import pandas
    import polars


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Operating characteristics of designs in scenarios.

    `results` go scenario by scenario, in each by design in the order given; differences are from the first design.
    `kept_trials` are what every trial left behind, in the same order, if `evaluate` was told to keep it.
    `notes` are sentences on designs whose looks make no difference.
    """

    designs: tuple[Design, ...]
    scenarios: tuple[Scenario, ...]
    n_trials: int
    seed: int
    version: str
    results: tuple[Characteristics, ...]
    kept_trials: tuple[TrialOutcomes, ...] | None = None
    notes: tuple[str, ...] = ()

    def __getitem__(self, key: object) -> Characteristics:
        """`evaluation[scenario]` or `evaluation[scenario, design]`: names, values or places."""
        raise NotImplementedError

    def to_polars(self) -> polars.DataFrame:
        """A row for each characteristic: scenario, design, name, arm, estimand, method, mean, se, lo, hi, reason."""
        raise NotImplementedError

    def to_pandas(self) -> pandas.DataFrame:
        """What `to_polars` gives, as a frame of pandas (extra `pandas`)."""
        raise NotImplementedError

    def to_json(self) -> dict[str, Any]:
        """Everything as plain data. The seed is a string: JSON readers may round it."""
        raise NotImplementedError
