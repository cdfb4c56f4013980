"""Requests from web pages of other origins (CORS)."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp


def with_cors(app: ASGIApp, origins: Sequence[str]) -> ASGIApp:
    """Let web pages of these origins use an application.

    Tokens are sent by the page itself, never by the browser: cookies and the like ("credentials") are not allowed.
    """
    return CORSMiddleware(
        app,
        allow_origins=origins,
        allow_methods=["GET", "POST", "DELETE"],
        allow_headers=["Authorization", "Content-Type", "Idempotency-Key"],
        expose_headers=["Retry-After", "X-Adhere-Head"],
    )
