"""Data of an evaluation: operating characteristics of designs in scenarios."""

from collections.abc import Sequence
from dataclasses import dataclass

from adhere.design.design import Design
from adhere.evaluation.characteristics.characteristics import Characteristics
from adhere.evaluation.kept_trials import KeptTrials, result_index
from adhere.evaluation.scenarios.scenario import Scenario
from adhere.simulation.results.lookup import ResultList


@dataclass(frozen=True, eq=False, repr=False)
class EvaluationData(ResultList[Characteristics]):
    """Operating characteristics of designs in scenarios.

    `results` are ordered by scenario, then by design in the order given; differences are from the first design.
    `kept_trials` has the outcomes of every trial, if `keep_trials` was given. `notes` are sentences on what a
    designer may not expect.
    """

    designs: tuple[Design, ...]
    scenarios: tuple[Scenario, ...]
    n_trials: int
    seed: int
    version: str
    results: tuple[Characteristics, ...]
    kept_trials: KeptTrials | None = None
    notes: tuple[str, ...] = ()

    def __getitem__(self, key: object) -> Characteristics:
        """Return `evaluation[scenario]` or `evaluation[scenario, design]`; keys are names, values or indices.

        The default is the first design.
        """
        return self.results[result_index(key, self.scenarios, self.designs)]

    def _results(self) -> Sequence[Characteristics]:
        return self.results
