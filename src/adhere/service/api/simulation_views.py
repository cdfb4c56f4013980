"""Response bodies of simulations."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from adhere.service.jobs.simulation_files import State


class CharacteristicView(Struct, frozen=True, omit_defaults=True):
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


class ScenarioView(Struct, frozen=True):
    """A scenario, what is true in it, and how trials of the design behave in it."""

    name: str
    null: Annotated[str | None, Meta(description="sharp, average, or none.")]
    effect: Annotated[float | None, Meta(description="null where arms have effects of their own.")]
    compliance: float | None
    confounding: float | None
    mean_given_chosen: Annotated[list[float], Meta(description="The mean outcome if an arm is recommended.")]
    characteristics: list[CharacteristicView]
    baseline: Annotated[float | None, Meta(description="The mean outcome of those who comply without an effect.")] = (
        None
    )


class SimulationLine(Struct, frozen=True):
    """A simulation in a list: the name of its design, and where it stands."""

    id: int
    name: str
    state: State
    n_trials: Annotated[int, Meta(description="In each scenario.")]


class SimulationList(Struct, frozen=True):
    """The simulations that a token started within the last hour, the newest first."""

    simulations: list[SimulationLine]


class SimulationView(Struct, frozen=True, omit_defaults=True):
    """A simulation of a design: where it stands, and at its end what was found."""

    id: int
    state: State
    n_trials: Annotated[int, Meta(description="In each scenario.")]
    seed: Annotated[str, Meta(description="As text, since JavaScript rounds large numbers.")]
    done: Annotated[int, Meta(description="Patients simulated so far.")] = 0
    total: Annotated[int, Meta(description="Patients to simulate, if no trial stops early.")] = 0
    doing: Annotated[str, Meta(description="What is done before the first patient, such as compiling.")] = ""
    reason: Annotated[str, Meta(description="Why it failed.")] = ""
    design_digest: str | None = None
    scenarios: list[ScenarioView] | None = None
    meanings: Annotated[dict[str, str], Meta(description="What each characteristic is.")] | None = None
    notes: tuple[str, ...] = ()
    report: Annotated[
        Literal["being made", "ready", "not available"] | None, Meta(description="Of a simulation that is done.")
    ] = None
    name: Annotated[str, Meta(description="Of the design.")] = ""
