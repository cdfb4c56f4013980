"""The list of trials, and the overview of one trial."""

from typing import Any, Final
from uuid import uuid4

import msgspec
from starlette.responses import Response

from adhere.errors import ConflictError, InputError
from adhere.service.http.problems import ProblemError
from adhere.service.pages.forms.problems import shown_problem
from adhere.service.pages.page_request import PageRequest
from adhere_client.responses.recommendations import WaitingPage
from adhere_client.responses.trials import TrialDetails

_PAGE: Final = 50  # trials on one page


async def trials_page(page: PageRequest) -> Response:
    """Show the trials that the user may see, newest first."""
    trials = list(reversed((await page.call("list_trials")).trials))
    text = page.query.get("from", "0")
    first = min(int(text), len(trials)) if text.isascii() and text.isdigit() and len(text) < 10 else 0
    simulations = (await page.call("list_simulations")).simulations if page.may("list_simulations") else []
    return page.render(
        "trials.html",
        simulations=[one for one in simulations if one.state in ("waiting", "running")],
        trials=trials[first : first + _PAGE],
        total=len(trials),
        first=first,
        before=max(first - _PAGE, 0) if first else None,
        after=first + _PAGE if first + _PAGE < len(trials) else None,
    )


_CHANGES: Final = ("pause", "resume", "close", "reveal")
_ACCEPT, _TICK = "end it with accept_open to do without them", "tick the box below"  # the API's words, the page's


async def changed_state(page: PageRequest) -> Response:
    """Pause, resume or close the trial."""
    form = page.form
    change = form.get("change", "")
    body: dict[str, Any] = {"reason": form.get("reason", "")}
    if change == "close":
        body["accept_open"] = "accept_open" in form
    try:
        if change not in _CHANGES:
            raise InputError("change", change, "one of pause, resume, close, reveal")
        await page.call(change, body=body, key=form.get("key", ""))
    except (InputError, ProblemError) as error:
        waiting = await _waiting(page) if isinstance(error, ConflictError) and change == "close" else None
        problem = shown_problem(error)
        if waiting:
            problem = problem._replace(beside=problem.beside.replace(_ACCEPT, _TICK))
        return await overview_page(page, 422, problem=problem, form=form, waiting=waiting)
    return page.redirect(page.address("trials", page.trial))


async def _waiting(page: PageRequest) -> WaitingPage | None:
    """Return the awaited reports that closing would give up, oldest first."""
    found: WaitingPage = await page.call("list_waiting")
    return found if found.waiting else None


async def overview_page(page: PageRequest, status: int = 200, **values: Any) -> Response:
    """Show the design and the state of the trial. After a refused change, `values` contain the reason."""
    trial: TrialDetails = await page.call("show_trial")
    description: tuple[str, ...] = ()
    if page.may("check_design") and trial.design is not None:
        body = {"design": msgspec.to_builtins(trial.design)}
        description = (await page.call("check_design", body=body)).description
    return page.render(
        "overview.html",
        status,
        trial=trial,
        description=description,
        key=str(uuid4()),
        **{"problem": None, "form": {}, "waiting": None, **values},
    )
