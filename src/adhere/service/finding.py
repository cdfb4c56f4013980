"""Finding a route: a tree of the paths' segments."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from urllib.parse import unquote

from adhere.errors import UnknownError
from adhere.service.problems import ProblemError
from adhere.service.routes import Route

_MOST_DIGITS = 15


class _Node:
    __slots__ = ("methods", "named", "parameter", "template", "words")

    def __init__(self) -> None:
        self.words: dict[str, _Node] = {}
        self.named = ""
        self.parameter: _Node | None = None
        self.methods: dict[str, Route] = {}
        self.template = ""


class Finder:
    """The routes by their paths."""

    def __init__(self, routes: Iterable[Route]) -> None:
        self._root = _Node()
        for route in routes:
            node = self._root
            for segment in route.path[1:].split("/"):
                if segment.startswith("{"):
                    node.named = segment.strip("{}")
                    node.parameter = node = node.parameter or _Node()
                else:
                    node = node.words.setdefault(segment, _Node())
            node.methods[route.method] = route
            node.template = route.path

    def find(self, method: str, raw_path: str) -> tuple[Route, dict[str, str]]:
        """The route for a path as it was sent, and what stands in its variable places.

        Segments are decoded one by one, so that an encoded slash does not divide them.
        """
        node: _Node | None = self._root
        parameters: dict[str, str] = {}
        encoded = "%" in raw_path
        for segment in raw_path[1:].split("/"):
            text = _decoded(segment) if encoded else segment
            assert node is not None
            if text in node.words:
                node = node.words[text]
            elif node.parameter is not None and text:
                parameters[node.named] = text
                node = node.parameter
            else:
                node = None
                break
        if node is None or not node.methods:
            raise ProblemError("unknown", "there is nothing at this address", field="path")
        route = node.methods.get("GET" if method == "HEAD" else method)
        if route is None:
            allowed = sorted({*node.methods, *(["HEAD"] if "GET" in node.methods else [])})
            detail = f"this address takes {', '.join(allowed)}"
            raise ProblemError("method", detail, field="method", headers={"allow": ", ".join(allowed)})
        return route, parameters


def number_in(parameters: dict[str, str], route: Route) -> int:
    """The number of a recommendation or token; what is no number names none of them."""
    text = parameters["id"]
    if text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS:
        return int(text)
    what = "token" if route.path.startswith("/tokens") else "recommendation"
    raise UnknownError(what, text, f"the number of a {what}")


def trial_in(parameters: dict[str, str]) -> str:
    """The name of a trial, in the form in which names are kept."""
    name = parameters["trial"]
    return name if name.isascii() else unicodedata.normalize("NFC", name)


def _decoded(segment: str) -> str:
    try:
        return unquote(segment, errors="strict")
    except UnicodeDecodeError:
        raise ProblemError("unknown", "there is nothing at this address", field="path") from None
