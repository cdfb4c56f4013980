"""Sign in with a token or a one-time link, and sign out."""

from typing import Any

from starlette.responses import Response

from adhere.access.sessions import LINK_FRAGMENT, LINK_PREFIX
from adhere.service.pages.handle_page import COOKIE
from adhere.service.pages.page_request import PageRequest

_NOT_VALID = "This access code is not valid: it was revoked, has expired, or was mistyped."
_USED = "This link was used already, or has expired. Ask whoever sent it for another one."
_NO_PAGES = "This access code is for programs that read metrics; it opens no page."


async def start_page(page: PageRequest) -> Response:
    """Redirect to the list of trials or, without a session, to the sign-in page."""
    return page.redirect(page.address("trials" if page.holder else "sign-in"))


async def sign_in_page(page: PageRequest) -> Response:
    """Show the form to sign in. Only the button uses up a one-time link, so that a preview of the link does not."""
    return page.render("sign-in.html", next=_next(page, page.query), problem="")


async def sign_in(page: PageRequest) -> Response:
    """Open a session, and redirect to the page that the user wanted."""
    given = page.form.get("link", "") or page.form.get("token", "")
    if LINK_FRAGMENT in given:  # the complete link was copied into the field
        given = given.rpartition(LINK_FRAGMENT)[2]
    holder = await page.auth.signing_in(given, page.scope)
    problem = "" if holder else (_USED if given.startswith(LINK_PREFIX) else _NOT_VALID)
    if holder is not None and holder.role == "metrics":
        problem = _NO_PAGES
    if holder is None or problem:
        return page.render("sign-in.html", 403, next=_next(page, page.form), problem=problem)
    service = page.service
    if page.holder is not None:
        await _closed(page)
    secret = await service.group_commit.run(lambda: service.sessions.open(holder))
    response = page.redirect(_next(page, page.form))
    _set_cookie(page, response, secret, int(service.settings.session_hours * 3600))
    return response


async def sign_out(page: PageRequest) -> Response:
    """End the session."""
    if page.holder is not None:
        await _closed(page)
    response = page.redirect(page.address("sign-in"))
    _set_cookie(page, response, "", 0)
    return response


async def _closed(page: PageRequest) -> None:
    service = page.service
    await service.group_commit.run(lambda: service.sessions.close(page.secret))


def _next(page: PageRequest, given: object) -> str:
    """Return the page to open after signing in. It is always a page of this service."""
    wanted = given.get("next", "") if isinstance(given, dict) else ""
    inside = wanted.startswith(f"{page.root}/app/") and "\\" not in wanted and wanted.isprintable()
    return wanted if inside else page.address("trials")


def _set_cookie(page: PageRequest, response: Response, secret: str, seconds: int) -> None:
    path, is_secure = f"{page.root}/", page.auth.is_secure(page.scope)
    samesite: Any = "Lax"  # written with capitals, like most clients write it
    response.set_cookie(COOKIE, secret, seconds, path=path, secure=is_secure, httponly=True, samesite=samesite)
