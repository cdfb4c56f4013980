"""A simulation of a design: how far it is, what it found, its report."""

from __future__ import annotations

from starlette.responses import Response

from adhere.errors import InputError, UnknownError
from adhere.service.http.problems import ProblemError
from adhere.service.pages.forms.operating_characteristics import claims_chart, lines_of
from adhere.service.pages.page_request import PageRequest
from adhere.service.pages.problem import shown_problem
from adhere_client.responses.simulations import Simulation


async def simulation_page(page: PageRequest) -> Response:
    """How far it is, and at its end the operating characteristics; the part alone for a page that shows it."""
    try:
        found: Simulation | None = await page.call("show_simulation")
    except UnknownError:  # it was forgotten, or is another's
        found = None
    return _shown(page, found)


async def stopped_simulation(page: PageRequest) -> Response:
    """Stop it."""
    await page.call("stop_simulation")
    if not page.is_fragment:
        return page.redirect(page.address("simulations", page.id))
    return _shown(page, await page.call("show_simulation"))


async def simulation_report_page(page: PageRequest) -> Response:
    """The report on it, to keep."""
    try:
        found: Response = await page.call("simulation_report")
    except (InputError, ProblemError) as error:
        return page.render("new-trial/simulation.html", simulation=None, problem=shown_problem(error))
    return found


def _shown(page: PageRequest, found: Simulation | None) -> Response:
    template = "new-trial/progress.html" if page.is_fragment else "new-trial/simulation.html"
    if found is None or found.state != "done":
        return page.render(template, simulation=found, problem=None)
    return page.render(template, simulation=found, problem=None, lines=lines_of(found), claims=claims_chart(found))
