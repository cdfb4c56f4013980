"""The site page: a recommendation for a subject, what waits, and a search for a subject's recommendations."""

import secrets
from collections.abc import Sequence
from typing import Any, Final

from starlette.responses import Response

from adhere.errors import ConflictError, InputError
from adhere.service.http.problems import ProblemError
from adhere.service.pages.forms.problems import FormProblem, form_problem
from adhere.service.pages.page_request import PageRequest, visible
from adhere_client.responses.recommendations import ListedRecommendation

_CHOSEN: Final = ("stratum", "site")  # beside the subject


async def site_page(page: PageRequest) -> Response:
    """The form for a subject, what waits, and a subject's recommendations if one was searched for."""
    if (wanted := visible(page.query.get("subject", ""))) == "":
        return await _shown(page)
    site = page.query.get("site", "").strip()
    asked = {"subject": wanted} | ({"site": site} if site else {})
    found, refusal = await page.attempt("find_recommendations", query=asked)
    if refusal:
        return await _shown(page, problem=form_problem("search", refusal), wanted=wanted)
    return await _shown(page, found=found, wanted=wanted)


async def recommendation_from_page(page: PageRequest) -> Response:
    """Recommend for a subject, after a question if that may be somebody who was entered before."""
    form = page.form
    subject, key = form.get("subject", ""), form.get("key", "")
    site = form.get("site", "")
    body: dict[str, Any] = {"subject": subject} | {name: form[name] for name in _CHOSEN if form.get(name)}
    # An answer counts for whom it was asked about.
    is_new, is_again = (form.get(name) == f"{site}/{subject}" for name in ("someone_new", "again"))
    body |= {"again": is_again, "refuse_alike": not is_new}
    if missing := await _missing(page):
        return await _shown(page, problem=FormProblem("recommend", missing))
    try:
        if not is_new and not is_again:
            kind, lines = await _question(page, subject, site)
            if lines:
                return await _shown(page, question=kind, lines=lines, key=key)
        made = await page.call("recommend", body=body, key=key)
    except (InputError, ProblemError) as error:
        if isinstance(error, ConflictError) and error.field == "refuse_alike":  # entered since the question
            kind, lines = await _question(page, subject, site)
            if lines:
                return await _shown(page, question=kind, lines=lines, key=key)
        elif isinstance(error, ConflictError) and error.recommendation_id is not None:
            return _entered_before(page, error.recommendation_id)
        return await _shown(page, problem=form_problem("recommend", error))
    if made.entered_at is not None:
        return _entered_before(page, made.recommendation_id)
    return page.redirect(page.address("trials", page.trial, "recommendations", made.recommendation_id))


async def _missing(page: PageRequest) -> dict[str, str]:
    """Return a sentence for each field of the form that must be filled in and is empty."""
    form, needed = page.form, {"subject": "Type the subject’s code."}
    if await _sites(page):
        needed["site"] = "Choose the site."
    if (await page.call("show_trial")).strata:
        needed["stratum"] = "Choose the stratum."
    return {name: sentence for name, sentence in needed.items() if not form.get(name)}


async def _question(page: PageRequest, subject: str, site: str) -> tuple[str, Sequence[ListedRecommendation]]:
    """Return what to ask before a subject is entered, with the recommendations it is about; none if it is clear."""
    found = await page.call("find_recommendations", query={"subject": subject, "site": site})
    if found.alike:
        return "alike", found.alike
    entered = [line for line in found.recommendations if line.state != "entered in error"]
    if not entered or any(line.state == "waiting" for line in entered):
        return "", ()
    entries = (await page.call("show_trial")).entries
    if entries == "ask":
        return "again", entered[-1:]
    is_lost = entries == "repeated" and entered[-1].state == "lost to follow-up"
    return "lost", entered[-1:] if is_lost else ()


def _entered_before(page: PageRequest, recommendation_id: str) -> Response:
    """Show the recommendation that a subject has, and that it is an earlier one."""
    return page.redirect(page.address("trials", page.trial, "recommendations", recommendation_id, entered="before"))


async def _shown(page: PageRequest, **values: Any) -> Response:
    trial = await page.call("show_trial")
    after = page.query.get("after", "")
    waiting = await page.call("list_waiting", query={"after": after} if after else {})
    shown = {"problem": None, "found": None, "wanted": "", "question": "", "lines": (), "key": new_key(), **values}
    problem = shown["problem"]
    form = {"subject": "", "stratum": "", "site": "", **page.form}
    return page.render(
        "site.html",
        problem.status if problem else 200,
        trial=trial,
        waiting=waiting,
        form=form,
        several_sites=page.holder is not None and page.holder.site is None,
        sites=await _sites(page),
        **shown,
    )


async def _sites(page: PageRequest) -> list[str]:
    """Return the sites to choose from; none for a site, which enters its own subjects."""
    return (await page.call("list_sites")).sites if page.may("list_sites") else []


def new_key() -> str:
    """The idempotency key of a form: sent again under it, nothing is done twice."""
    return secrets.token_urlsafe(18)
