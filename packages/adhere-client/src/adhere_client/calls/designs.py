"""Calls that create a trial, check or simulate a design, list the policies, or explore a population."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from adhere_client.errors import InputError
from adhere_client.files import AnyDesign, fields_of, scenarios_of
from adhere_client.request import Request, Steps, ask, get, list_of
from adhere_client.responses.simulations import (
    Exploration,
    PolicyDetails,
    PolicyList,
    Simulation,
    SimulationLine,
    SimulationList,
)
from adhere_client.responses.trials import CheckedDesign, CreatedTrial, Design, ImputationRule

_COMPLIANCE_TYPE = "three numbers: share, mean reward on control, mean reward on treatment"


def create_trial(
    name: str,
    policy: object,
    arms: Sequence[str],
    *,
    n_patients: int | None = None,
    reward_values: Sequence[float] = (0.0, 1.0),
    blinded: bool = False,
    repeats: bool = False,
    entries: str = "repeated",
    impute: Mapping[str, Any] | ImputationRule | None = None,
    control: str | None = None,
    strata: Sequence[str] = (),
    update: str = "every patient",
    looks: Mapping[str, Any] | None = None,
    stopping: Mapping[str, Any] | None = None,
    estimands: Sequence[str] = ("intention-to-treat", "compliers"),
    enrolment: Mapping[str, Any] | None = None,
    delay: Mapping[str, Any] | None = None,
    missing: Mapping[str, Any] | None = None,
    rehearsal: bool = False,
    outcome_words: Mapping[str, float] | None = None,
    lower_is_better: bool = False,
    seed: int | None = None,
) -> Steps[Design]:
    """Create a trial and return its design with all defaults filled in. Repeating the call changes nothing.

    Only rehearsals take a seed. Any other trial draws its own secret, so that nobody can predict an arm.
    """
    body = locals() | {  # all parameters by name
        "policy": str(policy),
        "arms": list_of("arms", arms, 'names, such as ["walk", "aspirin"]'),
        "reward_values": list_of("reward_values", reward_values, "numbers from 0 to 1"),
        "impute": dict(impute) if isinstance(impute, Mapping) else impute,
        "strata": list_of("strata", strata, 'names, such as ["under 60", "60 and over"]'),
        "estimands": list_of("estimands", estimands, 'names, such as ["intention-to-treat"]'),
    }
    return create_trial_from(body, seed=seed)


def create_trial_from(design: AnyDesign, *, seed: int | None = None) -> Steps[Design]:
    """Create a trial from a design: a .toml or .json file, a mapping, or an `adhere.Design`.

    Otherwise it works like `create_trial`.
    """
    body = {**fields_of(design), "seed": None if seed is None else str(seed)}
    created = yield from ask(Request("POST", "/trials", CreatedTrial, body))
    return created.design


def check_design(design: AnyDesign) -> Steps[CheckedDesign]:
    """Check a design without creating a trial. It takes the same designs as `create_trial_from`."""
    return ask(Request("POST", "/designs", CheckedDesign, {"design": fields_of(design)}))


def policies() -> Steps[list[PolicyDetails]]:
    """List the policies that a design may name."""
    found = yield from get("/policies", PolicyList)
    return found.policies


def start_simulation(
    design: AnyDesign, scenarios: Mapping[str, Any] | None = None, *, n_trials: int = 2_000, seed: int = 0
) -> Steps[Simulation]:
    """Simulate trials of a design in a grid of scenarios.

    Without a grid, the scenarios in the design's file are used, or a default grid if the file has none. The
    simulation starts when the earlier simulations of this token have ended.
    """
    table = scenarios_of(design) if scenarios is None else scenarios
    body = {"design": fields_of(design), "scenarios": _grid(table), "n_trials": n_trials, "seed": str(seed)}
    return ask(Request("POST", "/simulations", Simulation, body, repeatable=False))


def simulation(id: int) -> Steps[Simulation]:  # noqa: A002 (the name in the address)
    """Return the progress of a simulation and, once it is done, the operating characteristics."""
    return get(f"/simulations/{id}", Simulation)


def simulations() -> Steps[list[SimulationLine]]:
    """List the simulations that this token started within the last hour, newest first."""
    found = yield from get("/simulations", SimulationList)
    return found.simulations


def stop_simulation(id: int) -> Steps[None]:  # noqa: A002 (the name in the address)
    """Stop a simulation that is waiting or running, or forget a simulation that has ended."""
    return ask(Request("DELETE", f"/simulations/{id}", type(None)))


def simulation_report(id: int, path: str | Path) -> Steps[None]:  # noqa: A002 (the name in the address)
    """Write the report on a completed simulation to an HTML file."""
    return ask(Request("GET", f"/simulations/{id}/report", type(None), into=Path(path)))


def explore(
    preset: str = "rich-and-poor",
    *,
    compliance_types: Mapping[str, Sequence[float]] | None = None,
    policies: Sequence[str] = (),
    patients: int = 1_000,
    runs: int = 1_000,
    seed: int = 0,
) -> Steps[Exploration]:
    """Explore a population of four compliance types: which protocols are misled, and how policies perform in
    simulations.

    `compliance_types` replaces the types of the preset. It maps never-takers, always-takers, compliers and defiers
    to a share and two mean rewards: {"compliers": (share, mean reward on control, on treatment), …}.
    """
    query: dict[str, Any] = {"preset": preset, "patients": patients, "runs": runs, "seed": seed}
    for name, numbers in (compliance_types or {}).items():
        word = name.replace("-", "_")
        values = list_of("compliance_types", numbers, _COMPLIANCE_TYPE)
        if len(values) != 3:
            raise InputError(f"compliance_types, {name}", values, _COMPLIANCE_TYPE)
        query |= dict(zip((word, f"{word}_control", f"{word}_treatment"), values, strict=True))
    if policies:
        query["policies"] = ",".join(list_of("policies", policies, 'policies, such as ["thompson"]'))
    return get(f"/explorations?{urlencode(query)}", Exploration)


def _grid(table: object) -> object:
    """Return a grid of scenarios, with each single number made a list."""
    if not isinstance(table, Mapping):
        return table
    lists = ("effect", "compliance", "confounding")
    return {
        name: [value] if name in lists and not isinstance(value, (list, tuple)) else value
        for name, value in table.items()
    }
