"""A page of HTML with its style and script in it; its content security policy allows these and nothing else."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from html import escape
from importlib.resources import files

from starlette.responses import Response

MEDIA_TYPE = "text/html"
# An empty icon, or browsers would ask for /favicon.ico.
_SHELL = """<!doctype html>
<html lang="en" class="themed">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<link rel="icon" href="data:,">
<style>{style}</style>
</head>
<body>
{body}
{script}</body>
</html>
"""


class Page:
    """A page, ready to be sent any number of times."""

    def __init__(self, title: str, body: str, script: str = "") -> None:
        style = files("adhere.report").joinpath("templates", "tokens.css").read_text("utf-8") + asset("style.css")
        tag = f"<script>{script}</script>\n" if script else ""
        self._html = _SHELL.format(title=escape(title), style=style, body=body, script=tag).encode()
        policy = {
            "default-src": "'none'",
            "style-src": _hash(style),
            "script-src": _hash(script) if script else "'none'",
            "connect-src": "'self'" if script else "'none'",
            "img-src": "data:",
            "base-uri": "'none'",
            "form-action": "'none'",
            "frame-ancestors": "'none'",
        }
        self._headers = {
            "cache-control": "no-cache",
            "content-security-policy": "; ".join(f"{name} {value}" for name, value in policy.items()),
            "referrer-policy": "no-referrer",
            "x-content-type-options": "nosniff",
        }

    def response(self, **headers: str) -> Response:
        """The page as an answer, with more headers if given."""
        return Response(self._html, media_type=MEDIA_TYPE, headers={**self._headers, **headers})


def asset(name: str) -> str:
    """The text of a file beside this one."""
    return files("adhere.service.pages").joinpath(name).read_text("utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
