"""The list of trials."""

from __future__ import annotations

from typing import Final

from starlette.responses import Response

from adhere.service.pages.page_request import PageRequest

_PAGE: Final = 50  # trials on one page


async def trials_page(page: PageRequest) -> Response:
    """The trials that one may see, the newest first."""
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
