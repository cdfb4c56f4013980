"""Designs and populations simulated by the service."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import msgspec

from adhere_client.answers.explorations import Exploration
from adhere_client.answers.simulations import Simulation, SimulationLine
from adhere_client.calls.lists import list_of
from adhere_client.design_files import AnyDesign, fields_of, scenarios_of
from adhere_client.errors import InputError
from adhere_client.request import Request, Steps, ask, get


class _SimulationList(msgspec.Struct):
    simulations: list[SimulationLine]


_COMPLIANCE_TYPE = "three numbers: share, mean reward on control, mean reward on treatment"


def start_simulation(
    design: AnyDesign, scenarios: Mapping[str, Any] | None = None, *, n_trials: int = 2_000, seed: int = 0
) -> Steps[Simulation]:
    """Simulate trials of a design in a grid of scenarios; left out, those in its file, or else a usual grid.

    It waits while another simulation of this token is not done.
    """
    table = scenarios_of(design) if scenarios is None else scenarios
    body = {"design": fields_of(design), "scenarios": _grid(table), "n_trials": n_trials, "seed": str(seed)}
    return ask(Request("POST", "/simulations", Simulation, body, repeatable=False))


def simulation(id: int) -> Steps[Simulation]:  # noqa: A002
    """How far a simulation is, and at its end the operating characteristics."""
    return get(f"/simulations/{id}", Simulation)


def simulations() -> Steps[list[SimulationLine]]:
    """The simulations that this token started within the last hour, the newest first."""
    found = yield from get("/simulations", _SimulationList)
    return found.simulations


def stop_simulation(id: int) -> Steps[None]:  # noqa: A002
    """Stop a simulation that waits or runs; one that has ended is forgotten."""
    return ask(Request("DELETE", f"/simulations/{id}", type(None)))


def simulation_report(id: int, path: str | Path) -> Steps[None]:  # noqa: A002
    """Write the report on a simulation that is done to an HTML file."""
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
    """Who is fooled in a population of four compliance types, and how policies fare there, by simulated trials.

    `compliance_types` replaces the preset's: {"compliers": (share, mean reward on control, on treatment), …},
    of never-takers, always-takers, compliers and defiers.
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
    """A grid of scenarios; a single number may stand for a list of one."""
    if not isinstance(table, Mapping):
        return table
    lists = ("effect", "compliance", "confounding")
    return {
        name: [value] if name in lists and not isinstance(value, (list, tuple)) else value
        for name, value in table.items()
    }
