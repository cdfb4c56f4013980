"""New trial: a design from a form or a file, checked, simulated, and then created."""

from __future__ import annotations

from typing import Any

import msgspec
from starlette.responses import Response

from adhere.errors import InputError
from adhere.service.http.problems import ProblemError
from adhere.service.pages.forms.design_form import (
    DEFAULTS,
    N_TRIALS,
    SCENARIOS,
    design_json,
    place_of,
    scenario_fields,
    scenario_table,
)
from adhere.service.pages.forms.numbers import number
from adhere.service.pages.page_request import PageRequest
from adhere.service.pages.problem import shown_problem
from adhere.trial.design_file import design_document

_COMMON = ("thompson", "uniform", "mediated-thompson")  # policies that are offered first


async def new_trial_page(page: PageRequest) -> Response:
    """The form, empty."""
    return await _shown(page, form={})


async def checked_trial(page: PageRequest) -> Response:
    """Check what was typed, and say what it means."""
    form = page.form
    from_file = form.get("source") == "file"
    try:
        policies = (await page.call("list_policies")).policies
        text = form.get("file", "") if from_file else design_json(form, policies)
        checked = await page.call("check_design", body={"design": text})
    except (InputError, ProblemError) as error:
        found = shown_problem(error)
        place = "file" if from_file else place_of(found.field, form)
        return await _shown(page, 422, form=form, problem=found._replace(field=place))
    file_scenarios = design_document(text).get("scenarios") if from_file else None
    is_taken = any(line.name == checked.design.name for line in (await page.call("list_trials")).trials)
    return await _shown(page, form=form, checked=checked, file_scenarios=file_scenarios, is_taken=is_taken)


async def created_trial(page: PageRequest) -> Response:
    """Create the trial of a design that was checked."""
    form = page.form
    checked = await page.call("check_design", body={"design": form.get("file", "")})
    try:
        made = await page.call("create_trial", body=msgspec.to_builtins(checked.design))
    except (InputError, ProblemError) as error:
        return await _shown(page, 422, form=form, checked=checked, refused=shown_problem(error))
    return page.redirect(page.address("trials", made.design.name))


async def started_simulation(page: PageRequest) -> Response:
    """Simulate a design that was checked, and show how far it is."""
    form = page.form
    n_trials = number(form.get("n_trials", ""))
    n_trials = N_TRIALS if n_trials is None else n_trials
    body = {"design": form.get("file", ""), "scenarios": scenario_table(form), "n_trials": n_trials}
    try:
        started = await page.call("start_simulation", body=body)
    except (InputError, ProblemError) as error:
        refused = shown_problem(error)
        if page.is_fragment:
            return page.render("new-trial/refused.html", refused=refused)
        checked = await page.call("check_design", body={"design": form.get("file", "")})
        return await _shown(page, 422, form=form, checked=checked, refused=refused)
    if page.is_fragment:
        return page.render("new-trial/progress.html", simulation=started)
    return page.redirect(page.address("simulations", started.id))


async def _shown(page: PageRequest, status: int = 200, *, form: dict[str, str], **values: Any) -> Response:
    in_file = scenario_fields(values.get("file_scenarios"))
    policies = [one for one in (await page.call("list_policies")).policies if one.kind != "guard"]
    return page.render(
        "new-trial/page.html",
        status,
        form={**(DEFAULTS if "policy" not in form else {}), **form},
        scenarios={**SCENARIOS, **(in_file or {}), **form},
        common=[one for name in _COMMON for one in policies if one.name == name],
        others=[one for one in policies if one.name not in _COMMON],
        **{"problem": None, "checked": None, "refused": None, "file_scenarios": None, "is_taken": False, **values},
        are_typed=in_file is not None,
    )
