"""The site page: a recommendation for a subject, what waits, and a search for a subject's recommendations."""

from __future__ import annotations

import secrets
from typing import Any

from starlette.responses import Response

from adhere.errors import InputError
from adhere.service.http.problems import ProblemError
from adhere.service.pages.page_request import PageRequest
from adhere.service.pages.site.form_problem import form_problem


async def site_page(page: PageRequest) -> Response:
    """The form for a subject, what waits, and a subject's recommendations if one was searched for."""
    if (wanted := page.query.get("subject", "").strip()) == "":
        return await _shown(page)
    try:
        found = await page.call("find_recommendations", query=_names(page, wanted))
    except (InputError, ProblemError) as error:
        return await _shown(page, problem=form_problem("search", error), wanted=wanted)
    return await _shown(page, found=found, wanted=wanted)


async def recommendation_from_page(page: PageRequest) -> Response:
    """Recommend for a subject; it asks first about a code that looks like another, and about who was lost."""
    form = page.form
    body = {"subject": form.get("subject", "")} | ({"stratum": form["stratum"]} if form.get("stratum") else {})
    try:
        if body["subject"] and not form.get("someone_new"):
            found = await page.call("find_recommendations", query={"subject": body["subject"]})
            lost = [line for line in found.recommendations[-1:] if line.state == "lost to follow-up"]
            if found.alike or lost:
                return await _shown(page, alike=found.alike or lost, is_known=bool(lost), key=form.get("key", ""))
        made = await page.call("recommend", body=body, key=form.get("key", ""))
    except (InputError, ProblemError) as error:
        return await _shown(page, problem=form_problem("recommend", error))
    return page.redirect(page.address("trials", page.trial, "recommendations", made.recommendation_id))


async def _shown(page: PageRequest, **values: Any) -> Response:
    trial = await page.call("show_trial")
    after = page.query.get("after", "")
    waiting = await page.call("list_waiting", query={"after": after} if after else {})
    shown = {"problem": None, "found": None, "wanted": "", "alike": (), "is_known": False, "key": new_key(), **values}
    problem = shown["problem"]
    form = {"subject": "", "stratum": "", **page.form}
    return page.render(
        "site.html",
        problem.status if problem else 200,
        trial=trial,
        waiting=waiting,
        form=form,
        several_sites=page.holder is not None and page.holder.site is None,
        **shown,
    )


def _names(page: PageRequest, subject: str) -> dict[str, str]:
    site = page.query.get("site", "").strip()
    return {"subject": subject} | ({"site": site} if site else {})


def new_key() -> str:
    """The idempotency key of a form: sent again under it, nothing is done twice."""
    return secrets.token_urlsafe(18)
