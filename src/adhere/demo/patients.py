"""The patients of a demo's trial, drawn from its population."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from adhere.demo.draws import Draws, draws_of_patients
from adhere.demo.trials import DemoTrial

SITES: Final = ("Edinburgh", "Milan", "Oslo")


@dataclass(frozen=True)
class Patient:
    """Somebody at a site: what they would take and what would follow, for each arm that may be recommended."""

    subject: str
    site: str
    stratum: str | None
    arms: tuple[str, ...]
    actual: tuple[int, ...]
    reward: tuple[float, ...]

    def taken(self, *, wrong: bool = False) -> list[dict[str, Any]]:
        """What is reported of the arm taken, for each arm recommended; a wrong report names another arm."""
        return [{"actual": self.arms[(arm + wrong) % len(self.arms)]} for arm in self.actual]

    def outcome(self, *, wrong: bool = False) -> list[dict[str, Any]]:
        """What is reported of the outcome, for each arm recommended; a wrong report has the opposite."""
        return [{"reward": 1.0 - reward if wrong else reward} for reward in self.reward]

    def same(self, **said: Any) -> list[dict[str, Any]]:
        """What is said whatever was recommended."""
        return [said for _ in self.arms]


def draw_patients(trial: DemoTrial, seed: int, run: int) -> Iterator[tuple[Patient, Draws]]:
    """All patients of a trial, the same for the same seed and run, with numbers for what happens to them."""
    drawn = trial.population.patients(seed, run, trial.n_patients)
    for number, draws in enumerate(draws_of_patients(seed, run, trial.n_patients)):
        site = draws.one_of(SITES)
        patient = Patient(
            subject=f"{site[0]}-{number + 1:04}",
            site=site,
            stratum=draws.one_of(trial.strata) if trial.strata else None,
            arms=trial.arms,
            actual=tuple(drawn.actual[number].tolist()),
            reward=tuple(drawn.reward[number].tolist()),
        )
        yield patient, draws
