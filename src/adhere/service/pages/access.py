"""The page Access, on which admins make and revoke tokens and make one-time links to sign in."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final, get_args

from starlette.responses import Response

from adhere.access.tokens import Role
from adhere.errors import ConflictError, InputError
from adhere.lookalikes import find_alike
from adhere.service.api.route import METRICS, SITE
from adhere.service.pages.forms.form_reader import FormReader
from adhere.service.pages.forms.problems import shown_problem
from adhere.service.pages.page_request import PageRequest, Refusal

# The form's fields by the API's names.
_FORM_FIELDS: Final = {"role": "role", "label": "label", "site": "site", "trial": "trial", "expires_at": "days"}
_MAX_DAYS: Final = 3650
_MEANINGS: Final = {
    "site": "recommends and reports for one site, and unblinds a kit of its own; sees its own subjects only",
    "coordinator": "sees enrolment and waiting reports of all sites; no outcomes, no allocation",
    "statistician": "sees data, results, looks and the log; simulates designs and unblinds kits (by the API); "
    "changes nothing else",
    "admin": "may do everything, in every trial",
    "metrics": "a program that reads metrics; opens no page",
}
ROLES: Final = tuple((role, _MEANINGS[role]) for role in get_args(Role))


async def new_token(page: PageRequest) -> Response:
    """Make a token, and show it, or a link for its holder, once."""
    form = page.form
    body: dict[str, Any] = {name: form[name] for name in ("role", "label", "site", "trial") if form.get(name)}
    if "site" in body and form.get("asked") == body["site"]:  # otherwise the answer is about another site
        if form.get("use"):  # the existing site instead of the typed one, which looks like it
            body["site"] = form["use"]
        elif form.get("new_site"):
            body["new_site"] = True
    if problems := _problems(form):
        return await access_page(page, problems=problems, status=422)
    if days := form.get("days"):
        body["expires_at"] = _in_days(days)
    made, refusal = await page.attempt("make_token", body=body)
    if isinstance(refusal, ConflictError) and refusal.field == "site":
        return await access_page(page, typed=body["site"])
    if refusal:
        return await access_page(page, problem=refusal, status=422)
    if form.get("as") == "token" or made.role == METRICS:  # this role has no pages
        return await access_page(page, made=made)
    return await access_page(page, made=made, link=await page.call("make_link", id=made.id, body={}))


async def link_of_token(page: PageRequest) -> Response:
    """Make another link to sign in for the holder of a token."""
    link, refusal = await page.attempt("make_link", body={})
    return await access_page(page, problem=refusal, status=409) if refusal else await access_page(page, link=link)


async def revoked_token(page: PageRequest) -> Response:
    """Revoke a token."""
    _, refusal = await page.attempt("revoke_token")
    if refusal:
        return await access_page(page, problem=refusal, status=409)
    return page.redirect(page.address("access"))


async def access_page(
    page: PageRequest,
    *,
    problem: Refusal | None = None,
    status: int = 200,
    typed: str = "",
    problems: dict[str, str] | None = None,
    **values: Any,
) -> Response:
    """Show all tokens and a form for a new one. `typed` is a new site's name that looks like the name of another
    site, so that the form asks about it.
    """
    tokens = (await page.call("list_tokens")).tokens
    trials = (await page.call("list_trials")).trials
    shown = shown_problem(problem) if problem else None
    place = _FORM_FIELDS.get(shown.field, "") if shown else ""
    return page.render(
        "access.html",
        status,
        tokens=[token for token in reversed(tokens) if token.status == "valid"],
        ended=[token for token in reversed(tokens) if token.status != "valid"],
        trials=[trial.name for trial in trials],
        roles=ROLES,
        sites=(sites := sorted({token.site for token in tokens if token.site})),
        alike=find_alike(typed, sites) if typed else None,
        typed=typed,
        form={} if values else page.form,
        origin=f"{'https' if page.auth.is_secure(page.scope) else 'http'}://{page.headers.get('host', '')}",
        problem=None if shown is None or place else shown,
        problems=problems or ({place: shown.beside} if shown and place else {}),
        **{"made": None, "link": None, **values},
    )


def _problems(form: Mapping[str, str]) -> dict[str, str]:
    """Return a message for each field of the form that is wrong by itself, without a request to the API."""
    reader = FormReader(form)
    if not reader.text("label"):
        reader.refuse("label", "say whose it is")
    if reader.text("role") == SITE and not reader.text("site"):
        reader.refuse("site", "name the site")
    elif reader.text("role") != SITE and reader.text("site"):
        reader.refuse("site", "only the role site has a site: choose that role, or empty this field")
    if days := reader.text("days"):
        try:
            _in_days(days)
        except InputError as error:
            reader.refuse("days", f"type {error.expected}")
    return reader.problems


def _in_days(text: str) -> str:
    digits = text.lstrip("0")
    if not re.fullmatch("[0-9]{1,4}", digits) or int(digits) > _MAX_DAYS:
        raise InputError("expires_at", text, f"a whole number of days from 1 to {_MAX_DAYS}")
    return (datetime.now(UTC) + timedelta(days=int(digits))).isoformat(timespec="seconds")
