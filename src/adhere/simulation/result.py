"""What a simulation found."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adhere.errors import InputError
from adhere.simulation.measure import MEASURES
from adhere.simulation.outcome import Outcome

if TYPE_CHECKING:
    import polars


@dataclass(frozen=True)
class Config:
    """Everything that decides the numbers of a simulation."""

    n_patients: int
    n_runs: int
    seed: int
    grid: tuple[int, ...]
    reference: str
    version: str


@dataclass(frozen=True)
class SimulationResult:
    """What `simulate` found: one outcome for each population and policy, in the order given."""

    config: Config
    outcomes: tuple[Outcome, ...]

    def __getitem__(self, key: tuple[str, str] | int) -> Outcome:
        """The outcome of a (population, policy), by their texts, or by place."""
        if isinstance(key, int):
            return self.outcomes[key]
        for outcome in self.outcomes:
            if key in ((outcome.population, outcome.policy), (outcome.population, outcome.resolved)):
                return outcome
        known = ", ".join(f"({outcome.population!r}, {outcome.policy!r})" for outcome in self.outcomes)
        raise InputError("outcome", key, f"one of {known}")

    def to_json(self) -> list[dict[str, Any]]:
        """One object for each outcome, with the configuration."""
        config = {name: value for name, value in vars(self.config).items() if name != "grid"}
        return [{**outcome.to_json(), **config} for outcome in self.outcomes]

    def summary(self) -> str:
        """A plain table of the final surplus and regret."""
        wide = max(len(outcome.policy) for outcome in self.outcomes)
        lines = [
            f"{one.population:16s} {one.policy:{wide}s}  surplus {one.surplus}  regret {one.regret}"
            for one in self.outcomes
        ]
        return "\n".join(lines)

    def to_polars(self) -> polars.DataFrame:
        """Every measure along the grid as a long table: population, policy, measure, t, mean, se, lo, hi."""
        import polars

        frames = []
        for one, difference, measure in product(self.outcomes, (False, True), MEASURES):
            name = f"{measure}_difference" if difference else measure
            columns = {"population": one.population, "policy": one.policy, "measure": name}
            along = vars(one.trajectory(measure, difference))
            frames.append(polars.DataFrame({**columns, **along}, nan_to_null=True))
        return polars.concat(frames)

    def save(self, folder: str | Path) -> None:
        """Write `result.parquet` and `result.json` into a folder, all or nothing."""
        from adhere.simulation.result_files import save  # loads polars

        save(Path(folder), vars(self.config), [vars(outcome) for outcome in self.outcomes])

    @staticmethod
    def load(folder: str | Path) -> SimulationResult:
        """What `save` wrote, to the bit."""
        from adhere.simulation.result_files import load

        config, outcomes = load(Path(folder))
        return SimulationResult(Config(**config), tuple(Outcome(**outcome) for outcome in outcomes))
