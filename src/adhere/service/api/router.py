"""The router, a tree of path segments."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar
from urllib.parse import unquote

from adhere.errors import InputError
from adhere.service.http.problems import ProblemError


class Routed(Protocol):
    """A row of the router's table: a route of the API or a page."""

    @property
    def method(self) -> str:
        """Return the HTTP method."""

    @property
    def path(self) -> str:
        """Return the path, with names in braces for its parameters."""


Found = TypeVar("Found", bound=Routed)


@dataclass(slots=True)
class _Node(Generic[Found]):
    children: dict[str, _Node[Found]] = field(default_factory=dict)
    parameter_name: str = ""
    parameter: _Node[Found] | None = None
    methods: dict[str, Found] = field(default_factory=dict)


class Router(Generic[Found]):
    """The routes by method and path. The root path is optional, because a proxy may keep or remove it."""

    def __init__(self, routes: Iterable[Found], root_path: str = "") -> None:
        self._root: _Node[Found] = _Node()
        self._prefix, self._prefix_length = f"{root_path}/", len(root_path)
        for route in routes:
            node = self._root
            for segment in route.path[1:].split("/"):
                if segment.startswith("{"):
                    node.parameter_name = segment.strip("{}")
                    node.parameter = node = node.parameter or _Node()
                else:
                    node = node.children.setdefault(segment, _Node())
            node.methods[route.method] = route
        taken = self._root.children.keys() - {""}
        if root_path[1:].partition("/")[0] in taken:
            raise InputError("root_path", root_path, f"a path that begins with none of {', '.join(sorted(taken))}")

    def match(self, method: str, raw_path: str) -> tuple[Found, dict[str, str]]:
        """Return the route of an undecoded path, and its path parameters.

        Segments are decoded one by one, so that an encoded slash does not divide them.
        """
        if self._prefix_length and raw_path.startswith(self._prefix):
            raw_path = raw_path[self._prefix_length :]
        node = self._root
        parameters: dict[str, str] = {}
        encoded = "%" in raw_path
        for segment in raw_path[1:].split("/"):
            text = _decoded(segment) if encoded else segment
            if text in node.children:
                node = node.children[text]
            elif node.parameter is not None and text:
                parameters[node.parameter_name] = text
                node = node.parameter
            else:
                raise _not_found()
        if not node.methods:
            raise _not_found()
        route = node.methods.get("GET" if method == "HEAD" else method)
        if route is None:
            allowed = sorted({*node.methods, *(["HEAD"] if "GET" in node.methods else [])})
            detail = f"this path takes {', '.join(allowed)}"
            raise ProblemError("method", detail, field="method", headers={"allow": ", ".join(allowed)})
        return route, parameters


def _decoded(segment: str) -> str:
    try:
        return unquote(segment, errors="strict")
    except UnicodeDecodeError:
        raise _not_found() from None


def _not_found() -> ProblemError:
    return ProblemError("unknown", "there is nothing at this path; GET / says what there is", field="path")
