"""Handler of `GET /`: what this is and where to go, as a page for browsers and as JSON for all others."""

from __future__ import annotations

from functools import cache

from starlette.responses import Response

from adhere.service.api.openapi import DESCRIPTION
from adhere.service.context import RequestContext
from adhere.service.pages.page import MEDIA_TYPE, Page
from adhere.trial.verbs.recommend import SOFTWARE
from adhere_client.responses.service import Start

_VARY = "Accept"
_NEXT = "send a token with each request: curl -H 'Authorization: Bearer adh_…'; whoever runs this service makes them"
_BODY = f"""<main>
<h1>adhere</h1>
<p class="lead">{DESCRIPTION}</p>
<p>This is the HTTP service of live trials. It recommends an arm for a subject, takes reports of what was actually
taken and what came of it, and learns from both. Everything is kept in a log that can be verified and replayed.</p>
<ul class="cards">
<li><a href="app"><b>Sign in</b>
<span>Your trials in the browser, with an access code or a one-time link</span></a></li>
<li><a href="docs"><b>The API</b>
<span>Every request, its fields and answers; with a token you can try them</span></a></li>
<li><a href="openapi.json"><b>OpenAPI document</b><span>The same for programs</span></a></li>
<li><a href="readyz"><b>Is it ready?</b><span>Whether it can write now</span></a></li>
</ul>
<h2>First steps</h2>
<p>Requests need a token, which whoever runs this service hands out:</p>
<pre>curl -H "Authorization: Bearer $TOKEN" <i>this address</i>/trials</pre>
<p>In Python, <code>adhere.Client(url, token)</code> has a method for each request. In the repository,
<code>docs/curl.md</code> goes through a whole trial with curl, and <code>docs/operations.md</code> is for those who
run the service.</p>
</main>"""


async def start(context: RequestContext) -> Start | Response:
    """What this is and where to go: a page for browsers, JSON for others."""
    if prefers_html([value.decode("latin-1") for name, value in context.headers if name == b"accept"]):
        return _page().response(vary=_VARY)
    root = context.service.settings.root_path
    return Start("adhere", SOFTWARE, DESCRIPTION, f"{root}/docs", f"{root}/openapi.json", f"{root}/readyz", _NEXT)


@cache
def _page() -> Page:
    return Page("adhere", _BODY)


def prefers_html(accept: list[str]) -> bool:
    """Whether a client that accepts this wants HTML rather than JSON; those that take anything get JSON.

    >>> prefers_html(["text/html,application/xhtml+xml,*/*;q=0.8"]), prefers_html(["*/*"])
    (True, False)
    """
    quality = dict.fromkeys((MEDIA_TYPE, "application/json"), 0.0)
    for part in ",".join(accept).lower().split(","):
        media, *parameters = (piece.strip() for piece in part.split(";"))
        if media in quality:
            quality[media] = _quality(parameters)
    return quality[MEDIA_TYPE] > quality["application/json"]


def _quality(parameters: list[str]) -> float:
    for text in parameters:
        if text.startswith("q="):
            try:
                return float(text[2:])
            except ValueError:
                return 0.0
    return 1.0
