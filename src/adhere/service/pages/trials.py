"""The list of trials."""

from __future__ import annotations

from starlette.responses import Response

from adhere.service.pages.page_request import PageRequest


async def trials_page(page: PageRequest) -> Response:
    """The trials that one may see."""
    found = await page.call("list_trials")
    return page.render("trials.html", trials=found.trials)
