"""Static files of the pages, which are read and compressed once. Their versions follow from their contents."""

import gzip
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import PurePath
from typing import Final, NamedTuple

from starlette.responses import Response

from adhere.errors import UnknownError

_TYPES = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}
_FOR_GOOD = "public, max-age=31536000, immutable"


class StaticFile(NamedTuple):
    """A static file: its type, its contents, and a version that changes with the contents."""

    media_type: str
    contents: bytes
    version: str


def _all() -> dict[str, StaticFile]:
    static = files("adhere.service.pages") / "static"
    tokens = files("adhere.report") / "templates" / "tokens.css"  # reports use the same style
    found = {}
    for file in (tokens, *static.iterdir(), *(static / "vendored").iterdir()):
        if kind := _TYPES.get(PurePath(file.name).suffix):
            contents = file.read_bytes()
            found[file.name] = StaticFile(kind, contents, sha256(contents).hexdigest()[:12])
    return found


FILES: Final[Mapping[str, StaticFile]] = _all()


@cache
def _compressed(name: str) -> bytes:
    return gzip.compress(FILES[name].contents, 6, mtime=0)


def static_response(name: str, accept_encoding: str) -> Response:
    """Return a file, compressed if the browser accepts that. The address has a version, so the file never changes."""
    if name not in FILES:
        raise UnknownError("file", name, "a file of the pages")
    file = FILES[name]
    headers = {"cache-control": _FOR_GOOD, "vary": "Accept-Encoding", "x-content-type-options": "nosniff"}
    if "gzip" in accept_encoding:
        return Response(_compressed(name), 200, {**headers, "content-encoding": "gzip"}, file.media_type)
    return Response(file.contents, 200, headers, file.media_type)
