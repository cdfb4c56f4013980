"""The site page: enter a subject, list awaited reports, and search for a subject's recommendations."""

import secrets
from collections.abc import Sequence
from typing import Any, Final

from starlette.responses import Response

from adhere.errors import ConflictError, InputError
from adhere.service.http.problems import ProblemError
from adhere.service.pages.forms.problems import FormProblem, form_problem
from adhere.service.pages.page_request import PageRequest, visible
from adhere_client.responses.recommendations import ListedRecommendation

_CHOSEN: Final = ("stratum", "site")  # optional fields, in addition to the subject


async def site_page(page: PageRequest) -> Response:
    """Show the form for a subject, the awaited reports and, after a search, a subject's recommendations."""
    if (wanted := visible(page.query.get("subject", ""))) == "":
        return await _shown(page)
    site = page.query.get("site", "").strip()
    asked = {"subject": wanted} | ({"site": site} if site else {})
    found, refusal = await page.attempt("find_recommendations", query=asked)
    if refusal:
        return await _shown(page, problem=form_problem("search", refusal), wanted=wanted)
    return await _shown(page, found=found, wanted=wanted)


async def recommendation_from_page(page: PageRequest) -> Response:
    """Recommend an arm for a subject, after a question if the subject may have been entered before."""
    form = page.form
    subject, key = form.get("subject", ""), form.get("key", "")
    site = form.get("site", "")
    body: dict[str, Any] = {"subject": subject} | {name: form[name] for name in _CHOSEN if form.get(name)}
    # An answer counts only for the subject in the question.
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
        if isinstance(error, ConflictError) and error.field == "refuse_alike":  # entered after the question
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
    """Return a message for each required field of the form that is empty."""
    form, needed = page.form, {"subject": "Type the subject’s code."}
    if await _sites(page):
        needed["site"] = "Choose the site."
    if (await page.call("show_trial")).strata:
        needed["stratum"] = "Choose the stratum."
    return {name: sentence for name, sentence in needed.items() if not form.get(name)}


async def _question(page: PageRequest, subject: str, site: str) -> tuple[str, Sequence[ListedRecommendation]]:
    """Return the question to ask before a subject is entered, and its recommendations (empty: no question)."""
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
    """Show a subject's existing recommendation, with a note that it was made earlier."""
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
    """Return the sites to choose from. The list is empty for a site, which enters only its own subjects."""
    return (await page.call("list_sites")).sites if page.may("list_sites") else []


def new_key() -> str:
    """Return an idempotency key for a form, so that sending the form again has no further effect."""
    return secrets.token_urlsafe(18)
