"""The address of the service and the token of the caller, both checked before anything is sent."""

from typing import NamedTuple
from urllib.parse import urlsplit

from adhere_client.errors import InputError

_AN_ADDRESS = "the address of a service, such as http://127.0.0.1:8000"
_A_TOKEN = "the text shown when the token was made, such as adh_…"


class Address(NamedTuple):
    """The address of a service: its scheme, host and port, the path that precedes every path, and the full text."""

    scheme: bytes
    host: bytes
    port: int | None
    root: str
    text: str

    @property
    def host_header(self) -> bytes:
        """Return the value of the header Host."""
        host = b"[%b]" % self.host if b":" in self.host else self.host
        return host if self.port is None else b"%b:%d" % (host, self.port)


def parse_address(url: str) -> Address:
    """Parse the address of a service.

    >>> parse_address("http://127.0.0.1:8000/adhere/")
    Address(scheme=b'http', host=b'127.0.0.1', port=8000, root='/adhere', text='http://127.0.0.1:8000/adhere')
    """
    if not isinstance(url, str):
        raise InputError("url", url, _AN_ADDRESS)
    text = url.strip().rstrip("/")
    try:
        parts = urlsplit(text)
        host, port = (parts.hostname or "").encode("idna"), parts.port
    except ValueError:  # the port is not a number, or the host name is not valid
        raise InputError("url", url, _AN_ADDRESS) from None
    if parts.username is not None or parts.password is not None:
        raise InputError("url", _Unshown("an address with a password"), f"{_AN_ADDRESS}, and the token apart from it")
    sound = text.isascii() or parts.path.isascii()
    if parts.scheme not in ("http", "https") or not host or parts.query or parts.fragment or not sound or " " in text:
        raise InputError("url", url, _AN_ADDRESS)
    return Address(parts.scheme.encode(), host, port, parts.path, text)


class Secret(bytes):
    """Bytes whose representation hides them, for example when they are printed."""

    def __repr__(self) -> str:
        return "(not shown)"


def bearer(token: str) -> Secret:
    r"""Return the value of the header Authorization. Spaces and line breaks around the token are removed.

    >>> bearer(" adh_1234\n") == b"Bearer adh_1234"
    True
    """
    if not isinstance(token, str):
        raise InputError("token", _Unshown(f"a value of type {type(token).__name__}"), _A_TOKEN)
    text = token.strip()
    fault = ""
    if not text:
        fault = "empty text"
    elif not text.isascii():
        fault = "text with characters that no token has"
    elif any(character.isspace() for character in text):
        fault = "text with a space or a line break in it"
    elif not text.isprintable():
        fault = "text with a control character in it"
    if fault:
        raise InputError("token", _Unshown(fault), _A_TOKEN)
    return Secret(b"Bearer " + text.encode())


class _Unshown:
    """A placeholder in an error for a value that must not be printed."""

    def __init__(self, what: str) -> None:
        self._what = what

    def __repr__(self) -> str:
        return f"{self._what} (not shown)"
