"""Handlers that simulate trials of a design, or explore which protocols a population misleads.

The settings of an exploration are part of the address, so that a link contains them.
"""

import asyncio
import time
from collections.abc import Mapping
from functools import partial
from typing import Any, Final
from urllib.parse import parse_qsl

import msgspec
from starlette.responses import Response

from adhere.design.design import Design
from adhere.errors import InputError, UnknownError
from adhere.evaluation.evaluation_plan import EvaluationPlan, max_patients
from adhere.evaluation.scenarios.scenarios import read_scenarios
from adhere.exploration import presets
from adhere.exploration.policies import CHOICES, DEFAULT, check_policies
from adhere.exploration.presets import MAX_PATIENTS, MAX_RUNS, MAX_SEED, NAMES, Group, Settings, fields_of
from adhere.exploration.results import Exploration
from adhere.service.api.designs import read_design
from adhere.service.api.queries import Number, Text, query_value
from adhere.service.api.requests import NewSimulation, ScenarioTable, seed_of
from adhere.service.context import RequestContext
from adhere.service.jobs.simulation_files import SimulationFiles, SimulationState
from adhere_client.responses.simulations import SimulatedScenario, Simulation, SimulationLine, SimulationList

MAX_PATIENTS_IN_ALL: Final = 20_000_000  # about ten seconds on one core with the fast policies
_REPORT_SECONDS = 30.0  # the longest wait for a report that is being made
_POLL_SECONDS = 0.1
_SHARE_OR_REWARD = Number(0, 1)
_PATIENTS, _RUNS, _SEED = (Number(*ends, whole=True) for ends in ((10, MAX_PATIENTS), (1, MAX_RUNS), (0, MAX_SEED)))
_PRESET_MEANING = (
    f"where shares and rewards that are not given come from: {', '.join(p.name for p in presets.PRESETS)}"
)
_POLICIES_MEANING = f"separated by commas: {', '.join(choice.policy for choice in CHOICES)}"

EXPLORATION_QUERY: Final[tuple[tuple[str, Number | Text], ...]] = (
    ("preset", Text(_PRESET_MEANING)),
    *((field, _SHARE_OR_REWARD) for name in NAMES for field in fields_of(name)),
    ("policies", Text(_POLICIES_MEANING)),
    ("patients", _PATIENTS),
    ("runs", _RUNS),
    ("seed", _SEED),
)


async def start_simulation(context: RequestContext) -> Simulation:
    """Simulate trials of a design in scenarios; a token runs one simulation at a time."""
    token, body, service = context.holder.id, context.body, context.service
    design, scenarios, total = await service.in_background(partial(_read, body))
    seed = seed_of(body.seed) or 0
    start = partial(service.simulations.start, token, design, scenarios, body.n_trials, seed, total)
    number = await service.in_thread(start)
    return await service.in_thread(partial(_view, *service.simulations.find(token, number)))


async def show_simulation(context: RequestContext) -> Simulation:
    """Show the progress of a simulation and, once it is done, the operating characteristics."""
    service = context.service
    return await service.in_thread(lambda: _view(*service.simulations.find(context.holder.id, context.id)))


async def list_simulations(context: RequestContext) -> SimulationList:
    """List the simulations that the token started and that are still stored, newest first."""
    service = context.service
    known = await service.in_thread(lambda: service.simulations.of_token(context.holder.id))
    return SimulationList([SimulationLine(files.id, one.name, one.state, one.n_trials) for files, one in known])


async def stop_simulation(context: RequestContext) -> None:
    """Stop a simulation that is waiting or running, or forget a simulation that has ended."""
    service = context.service
    await service.in_background(lambda: service.simulations.stop(context.holder.id, context.id))


async def simulation_report(context: RequestContext) -> Response:
    """Return the report on a completed simulation as one HTML file."""
    service = context.service
    files, state = await service.in_thread(lambda: service.simulations.find(context.holder.id, context.id))
    until = time.monotonic() + _REPORT_SECONDS
    while state.state == "done" and _report(files) == "being made" and time.monotonic() < until:
        await asyncio.sleep(_POLL_SECONDS)
    if state.state != "done" or not (page := await service.in_thread(lambda: files.read("report"))):
        sentence = files.read("failure").decode() or f"simulation {context.id} has no report: it is {state.state}"
        raise UnknownError("simulation", context.id, "one that is done", sentence)
    name = f'attachment; filename="simulation-{context.id}.html"'
    return Response(page, media_type="text/html", headers={"content-disposition": name, "cache-control": "no-store"})


def _read(body: NewSimulation) -> tuple[Design, Mapping[str, Any] | None, int]:
    """Return the design, its scenarios and the number of patients, if they are valid and within the limit."""
    design, own = read_design(body.design)
    scenarios = own if body.scenarios is None else _table(body.scenarios)
    if scenarios is not None and (not isinstance(scenarios, Mapping) or "populations" in scenarios):
        expected = "a grid: baseline, effect, compliance, confounding (adhere design run takes populations)"
        raise InputError("scenarios.populations", scenarios, expected, f"scenarios: expected {expected}")
    if design.n_patients is None:
        sentence = "n_patients is needed to simulate a trial: the largest number of its patients"
        raise InputError("n_patients", None, "the largest number of patients of a trial", sentence)
    found = read_scenarios(scenarios, design)
    total = EvaluationPlan((design,), found, body.n_trials, 0).total_patients
    if total > MAX_PATIENTS_IN_ALL:
        most = MAX_PATIENTS_IN_ALL // (len(found) * max_patients(design))
        sentence = (
            f"{body.n_trials:,} trials of {design.n_patients:,} patients in {len(found)} scenarios are "
            f"{total:,} patients, more than the {MAX_PATIENTS_IN_ALL:,} simulated here: "
            + (f"at most {most:,} trials" if most else "use adhere design run for so many patients or scenarios")
        )
        raise InputError("n_trials", body.n_trials, f"at most {most:,} trials", sentence)
    return design, scenarios, total


def _table(given: ScenarioTable) -> dict[str, Any]:
    return {name: value for name, value in msgspec.structs.asdict(given).items() if value not in (None, ())}


def _view(files: SimulationFiles, state: SimulationState) -> Simulation:
    progress = files.progress
    view = Simulation(
        files.id, state.state, state.n_trials, str(state.seed), progress.done, progress.total, name=state.name
    )
    if state.state != "done":
        return msgspec.structs.replace(view, doing=progress.doing, reason=state.reason)
    found = msgspec.json.decode(files.read("results"))
    return msgspec.structs.replace(
        view,
        done=progress.total,
        design_digest=found["designs"][0]["design_digest"],
        scenarios=_scenarios(found),
        meanings=found["meanings"],
        notes=tuple(found["notes"]),
        report=_report(files),
    )


def _scenarios(found: Mapping[str, Any]) -> list[SimulatedScenario]:
    pairs = zip(found["scenarios"], found["results"], strict=True)
    every = [{**scenario, "characteristics": result["characteristics"]} for scenario, result in pairs]
    return msgspec.convert(every, list[SimulatedScenario])


def _report(files: SimulationFiles) -> str:
    if (files.folder / "report").exists():
        return "ready"
    return "not available" if files.read("failure") else "being made"


async def explore(context: RequestContext) -> Exploration:
    """Explore a population of four compliance types: which protocols are misled, and how policies perform."""
    return await context.service.explorer.explore(context.holder.id, settings_of(context.query))


def settings_of(query: bytes) -> Settings:
    """Return the settings in an address. Missing settings come from the preset or the defaults."""
    start = presets.preset_groups(query_value(query, "preset", presets.DEFAULT, _PRESET_MEANING))
    groups = [
        Group(
            one.name,
            *(
                _SHARE_OR_REWARD.read(query, field, value)
                for field, value in zip(fields_of(one.name), (one.share, *one.rewards), strict=True)
            ),
        )
        for one in start
    ]
    return Settings(
        tuple(groups),
        check_policies(_policies(query)),
        int(_PATIENTS.read(query, "patients", 1_000)),
        int(_RUNS.read(query, "runs", 1_000)),
        int(_SEED.read(query, "seed", 0)),
    )


def _policies(query: bytes) -> tuple[str, ...]:
    """Return the policies from all parameters called policies. A form sends one parameter per ticked box."""
    given = [
        value for name, value in parse_qsl(query.decode("latin-1"), keep_blank_values=True) if name == "policies"
    ]
    texts = [text.strip() for value in given for text in value.split(",")]
    return tuple(filter(None, texts)) if given else DEFAULT
