"""The page New trial: check and simulate a design from a form or a file, and create its trial."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec
from starlette.responses import Response

from adhere.design.design_file import design_document
from adhere.service.pages.forms.form_reader import FormReader
from adhere.service.pages.forms.problems import shown_problem
from adhere.service.pages.new_trial.checked_design import check_typed
from adhere.service.pages.new_trial.design_form import DEFAULTS, form_field
from adhere.service.pages.page_request import PageRequest
from adhere_client.responses.trials import CheckedDesign

_COMMON = ("thompson", "uniform", "mediated-thompson")  # policies at the top of the list


async def new_trial_page(page: PageRequest) -> Response:
    """Show the empty form."""
    return await _shown(page, form={})


async def checked_trial(page: PageRequest) -> Response:
    """Check the typed design, and describe it in words."""
    form = page.form
    file_scenarios = None
    if form.get("source") == "file":
        checked, refusal = await page.attempt("check_design", body={"design": form.get("file", "")})
        if refusal:
            return await _shown(page, 422, form=form, problems={"file": shown_problem(refusal).sentence})
        file_scenarios = design_document(form["file"]).get("scenarios")
    else:
        checked = await check_typed(page, form, (await page.call("list_policies")).policies)
        if not isinstance(checked, CheckedDesign):
            return await _shown(page, 422, form=form, problems=checked)
    is_taken = any(line.name == checked.design.name for line in (await page.call("list_trials")).trials)
    return await _shown(page, form=form, checked=checked, file_scenarios=file_scenarios, is_taken=is_taken)


async def created_trial(page: PageRequest) -> Response:
    """Create the trial of a checked design."""
    form = page.form
    checked = await page.call("check_design", body={"design": form.get("file", "")})
    made, refusal = await page.attempt("create_trial", body=msgspec.to_builtins(checked.design))
    if refusal:
        return await _shown(page, 422, form=form, checked=checked, refused=shown_problem(refusal))
    return page.redirect(page.address("trials", made.design.name))


async def started_simulation(page: PageRequest) -> Response:
    """Simulate a checked design, and show the progress."""
    form = page.form
    reader = FormReader(form)
    body = {"design": form.get("file", ""), **simulation_fields(reader)}
    if reader.problems:
        return await _refused_simulation(page, reader.problems)
    started, refusal = await page.attempt("start_simulation", body=body)
    if refusal:
        problem = shown_problem(refusal)
        place = form_field(problem.field, form)
        place = place if place in SCENARIOS else ""
        return await _refused_simulation(page, {place: problem.beside if place else problem.sentence})
    if page.is_fragment:
        return page.render("new-trial/progress.html", simulation=started)
    return page.redirect(page.address("simulations", started.id))


async def _refused_simulation(page: PageRequest, problems: dict[str, str]) -> Response:
    form = page.form
    if not page.is_fragment:
        checked = await page.call("check_design", body={"design": form.get("file", "")})
        return await _shown(page, 422, form=form, checked=checked, problems=problems)
    shown = page.render("new-trial/scenarios.html", scenarios={**SCENARIOS, **form}, problems=problems, labels={})
    shown.headers["hx-retarget"], shown.headers["hx-reswap"] = "#scenarios", "outerHTML"
    return shown


async def _shown(page: PageRequest, status: int = 200, *, form: dict[str, str], **values: Any) -> Response:
    in_file = scenario_fields(values.get("file_scenarios"))
    checked = values.get("checked")
    usual = SCENARIOS | (LOWERING if checked is not None and checked.design.lower_is_better else {})
    policies = [one for one in (await page.call("list_policies")).policies if one.kind != "guard"]
    return page.render(
        "new-trial/page.html",
        status,
        form={**(DEFAULTS if "policy" not in form else {}), **form},
        scenarios={**usual, **(in_file or {}), **form},
        common=[one for name in _COMMON for one in policies if one.name == name],
        others=[one for one in policies if one.name not in _COMMON],
        labels={},
        simulations=(await page.call("list_simulations")).simulations,
        **{"problems": {}, "checked": None, "refused": None, "file_scenarios": None, "is_taken": False, **values},
        are_typed=in_file is not None,
    )


N_TRIALS: Final = 1000
SCENARIOS: Final = {
    "scenarios.baseline": "0.5",
    "scenarios.effect": "0.1, 0.2",
    "scenarios.compliance": "1, 0.7",
    "scenarios.confounding": "0.2",
    "n_trials": str(N_TRIALS),
}
LOWERING: Final = {"scenarios.effect": "-0.1, -0.2"}  # used if lower outcomes are better
_LOWEST: Final = {"baseline": 0.0, "effect": -1.0, "compliance": 0.0, "confounding": -1.0}
_USUAL: Final[Mapping[str, Any]] = {"baseline": 0.5, "effect": [], "compliance": 1, "confounding": 0}


def simulation_fields(reader: FormReader) -> dict[str, Any]:
    """Return the typed grid of scenarios and number of trials."""
    n_trials = reader.number("n_trials", "whole")
    grid = {name: reader.numbers(f"scenarios.{name}", "share", lowest) for name, lowest in _LOWEST.items()}
    given = {name: values for name, values in grid.items() if values}
    return {"scenarios": given, "n_trials": N_TRIALS if n_trials is None else n_trials}


def scenario_fields(table: object) -> dict[str, str] | None:
    """Return a file's grid of scenarios as form fields, or None if the form has no fields for it (effects by arm).

    >>> scenario_fields({"effect": [0.1, 0.2], "compliance": 0.7})
    {'scenarios.baseline': '0.5', 'scenarios.effect': '0.1, 0.2', 'scenarios.compliance': '0.7', \
'scenarios.confounding': '0'}
    >>> scenario_fields({"effect": [{"aspirin": 0.1}]})
    """
    if not isinstance(table, Mapping) or set(table) - set(_USUAL):
        return None
    typed = {}
    for name, value in {**_USUAL, **table}.items():
        values = value if isinstance(value, list) else [value]
        if any(isinstance(one, bool) or not isinstance(one, (int, float)) for one in values):
            return None
        typed[f"scenarios.{name}"] = ", ".join(f"{one:.15g}" for one in values)
    return typed
