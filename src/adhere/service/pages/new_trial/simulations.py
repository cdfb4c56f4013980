"""The page of a simulation of a design: its progress, its results and its report."""

from typing import Any

from starlette.responses import Response

from adhere.errors import UnknownError
from adhere.service.pages.forms.problems import shown_problem
from adhere.service.pages.page_request import PageRequest
from adhere_client.responses.simulations import Characteristic, SimulatedScenario, Simulation


async def simulation_page(page: PageRequest) -> Response:
    """Show the progress and, once it is done, the operating characteristics. An open page gets the part alone."""
    try:
        found: Simulation | None = await page.call("show_simulation")
    except UnknownError:  # the simulation was forgotten, or belongs to another token
        found = None
    return _shown(page, found)


async def stopped_simulation(page: PageRequest) -> Response:
    """Stop the simulation."""
    await page.call("stop_simulation")
    if not page.is_fragment:
        return page.redirect(page.address("simulations", page.id))
    return _shown(page, await page.call("show_simulation"))


async def simulation_report_page(page: PageRequest) -> Response:
    """Download the report on the simulation."""
    found: Response
    found, refusal = await page.attempt("simulation_report")
    if refusal:
        return page.render("new-trial/simulation.html", simulation=None, problem=shown_problem(refusal))
    return found


def _shown(page: PageRequest, found: Simulation | None) -> Response:
    template = "new-trial/progress.html" if page.is_fragment else "new-trial/simulation.html"
    if found is None or found.state != "done":
        return page.render(template, simulation=found, problem=None)
    return page.render(template, simulation=found, problem=None, **found_values(found))


def found_values(simulation: Simulation) -> dict[str, Any]:
    """Return the additional values for the template of a completed simulation."""
    has_claims = any(_claim(one) for one in simulation.scenarios or [])
    return {"find": _find, "claim_in": _claim, "has_claims": has_claims, "claims": claims_by_effect(simulation)}


def claims_by_effect(simulation: Simulation) -> list[dict[str, Any]]:
    """Return the probability of a claim for each effect. The list is empty if no claims are made or all scenarios
    have the same effect.

    The probability is the type I error if the effect is 0, and the power otherwise.
    """
    values = []
    scenarios = simulation.scenarios or []
    confounding = {(one.compliance, one.confounding) for one in scenarios}
    baselines = {one.baseline for one in scenarios}
    for scenario in scenarios:
        found = _claim(scenario)
        if found is not None and scenario.effect is not None and scenario.null != "average":
            share = 1.0 if scenario.compliance is None else scenario.compliance
            among = f"{100 * share:g}% comply"
            if sum(compliance == scenario.compliance for compliance, _ in confounding) > 1:
                among += f", confounding {scenario.confounding or 0.0:g}"
            if len(baselines) > 1 and scenario.baseline is not None:
                among += f", baseline {scenario.baseline:g}"
            interval = {"claim": found.mean, "low": found.low, "high": found.high}
            values.append({"effect": scenario.effect, "among": among, **interval})
    return values if len({value["effect"] for value in values}) > 1 else []


def _claim(scenario: SimulatedScenario) -> Characteristic | None:
    """Return the power if one arm is better than another, otherwise the type I error."""
    return _find(scenario, "power") or _find(scenario, "type_one")


def _find(scenario: SimulatedScenario, name: str) -> Characteristic | None:
    known = (one for one in scenario.characteristics if (one.name, one.arm) == (name, None))
    return next((one for one in known if one.mean is not None), None)
