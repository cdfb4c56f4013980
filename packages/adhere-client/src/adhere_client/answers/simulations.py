"""Simulations of designs."""

from __future__ import annotations

from adhere_client.answers.answer import Answer


class Characteristic(Answer, frozen=True):
    """An operating characteristic with its Monte Carlo standard error and 95% interval, or why there is none."""

    name: str
    mean: float | None
    se: float | None = None
    low: float | None = None
    high: float | None = None
    arm: str | None = None
    estimand: str | None = None
    method: str | None = None
    reason: str | None = None


class SimulatedScenario(Answer, frozen=True):
    """A scenario, what is true in it, and how trials of the design behave in it."""

    name: str
    null: str | None
    effect: float | None
    compliance: float | None
    confounding: float | None
    mean_given_chosen: list[float]
    characteristics: list[Characteristic]
    baseline: float | None = None


class SimulationLine(Answer, frozen=True):
    """A simulation in a list: the name of its design, and where it stands."""

    id: int
    name: str
    state: str
    n_trials: int


class Simulation(Answer, frozen=True):
    """A simulation of a design: where it stands (waiting, running, done, failed, stopped), and what was found."""

    id: int
    state: str
    n_trials: int
    seed: str
    done: int = 0
    total: int = 0
    doing: str = ""
    reason: str = ""
    design_digest: str | None = None
    scenarios: list[SimulatedScenario] | None = None
    meanings: dict[str, str] | None = None
    notes: tuple[str, ...] = ()
    report: str | None = None
    name: str = ""
