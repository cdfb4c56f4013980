"""All settings of the service, each declared once.

To add a setting, add a field to `ServiceSettings` with its type, default and `about` (group, one line of description,
bounds). From the field follow the flag of ``adhere serve`` (``--max-body-bytes``), the environment variable
(``ADHERE_MAX_BODY_BYTES``), the key of the settings file (``max_body_bytes``) and the check of the value. So do the
lines in ``--help``, in ``--show-settings`` and in docs/reference/settings.md. Handlers find the value in
``context.service.settings``.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from ipaddress import ip_network
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

from msgspec import Meta, Struct
from msgspec.structs import FieldInfo, fields

from adhere.site_zones import are_time_zones

Group = Literal["Store", "Address", "Proxies and browsers", "Limits", "Intervals", "Logs", "Monitoring"]


def about(group: Group, description: str, **more: Any) -> Meta:
    """Return the metadata of a field of `ServiceSettings`, beyond its type and default.

    `more` may contain bounds of `msgspec.Meta` (``gt=0``) and fields of `Setting`:

    - `check` for conditions that bounds cannot express, and `expected` for its description in an error;
    - `secret` for a value to hide;
    - `flag` and `metavar` if they do not follow from the name and type.
    """
    declared = {name: more.pop(name) for name in _DECLARED & more.keys()}
    return Meta(description=description, extra={"group": group, **declared}, **more)


@dataclass(frozen=True)
class Setting:
    """The declaration of one setting."""

    name: str
    type: Any  # without its bounds and without None
    annotation: Any  # as declared
    default: Any
    description: str
    group: Group
    flag: str
    metavar: str
    expected: str | None = None
    check: Callable[[Any], bool] | None = None
    secret: bool = False  # whether the value is hidden when settings are shown

    @property
    def variable(self) -> str:
        """Return the name of the environment variable, such as ADHERE_PORT."""
        return f"ADHERE_{self.name.upper()}"

    @property
    def many(self) -> bool:
        """Return whether the setting is a list."""
        return get_origin(self.type) is tuple

    @property
    def shown_default(self) -> str:
        """Return the default as short text, or an empty text if there is no default or it is empty."""
        if isinstance(self.default, float):
            return f"{self.default:.15g}"
        return str(self.default or "")


_DECLARED: Final = {"flag", "metavar", "expected", "check", "secret"}
# An optional text is the name of a file, unless its declaration has another metavar.
_METAVARS: Final[Mapping[Any, str]] = {int: "N", float: "NUMBER", str | None: "FILE"}


def _setting(field: FieldInfo) -> Setting:
    bare, meta = get_args(field.type)
    metavar = "|".join(get_args(bare)) if get_origin(bare) is Literal else _METAVARS.get(bare, "TEXT")
    if get_origin(bare) in (Union, UnionType):
        (bare,) = (part for part in get_args(bare) if part is not type(None))
    declared = {"flag": field.name.replace("_", "-"), "metavar": metavar, **meta.extra}
    declared["flag"] = f"--{declared['flag']}"
    return Setting(field.name, bare, field.type, field.default, meta.description, **declared)


_ORIGIN = re.compile(r"https?://(\[[0-9a-f:.]+\]|[a-z0-9.-]+)(:\d{1,5})?")
_ROOT_PATH = re.compile(r"(/[A-Za-z0-9._~-]+)*")


def is_postgres(url: str) -> bool:
    """Return whether a text is the address of a PostgreSQL database."""
    return url.startswith(("postgresql://", "postgres://"))


def is_file_name(name: str) -> bool:
    """Return whether a text is the name of a file rather than an address of PostgreSQL."""
    return not is_postgres(name)


def is_root_path(path: str) -> bool:
    """Return whether a text is a path that can precede all other paths.

    >>> is_root_path("/adhere"), is_root_path(""), is_root_path("adhere/")
    (True, True, False)
    """
    return _ROOT_PATH.fullmatch(path) is not None and not {".", ".."} & set(path.split("/"))


def are_origins(texts: Sequence[str]) -> bool:
    """Return whether each text is an origin in the form that browsers send, or ``*``.

    >>> are_origins(["https://trial.example.org"]), are_origins(["https://trial.example.org/"])
    (True, False)
    """
    return all(text == "*" or _ORIGIN.fullmatch(text) for text in texts)


def are_networks(texts: Sequence[str]) -> bool:
    """Return whether each text is an IP address or network.

    >>> are_networks(["127.0.0.1", "10.0.0.0/8", "::1"]), are_networks(["localhost"])
    (True, False)
    """
    try:
        for text in texts:
            ip_network(text)
    except ValueError:
        return False
    return True


def _in_existing_folder(file: str) -> bool:
    return Path(file).parent.is_dir()


_store = partial(about, "Store")
_address = partial(about, "Address")
_browsers = partial(about, "Proxies and browsers")
_limit = partial(about, "Limits")
_interval = partial(about, "Intervals")
_log = partial(about, "Logs")
_monitoring = partial(about, "Monitoring")


class ServiceSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The settings of the service. The defaults suit most installations.

    Rates are requests per second. A burst is the number of requests that may come at once after a pause. Each worker
    counts its own requests, including requests in progress.
    """

    data: Annotated[
        str,
        _store(
            "The SQLite file of the trials, made if there is none.",
            metavar="FILE",
            check=is_file_name,
            expected="a file; give the address of a PostgreSQL with --database-url",
        ),
    ] = "adhere.db"
    database_url: Annotated[
        str | None,
        _store(
            "PostgreSQL instead of a file: postgresql://user:password@host/database.",
            metavar="URL",
            secret=True,
            check=is_postgres,
            expected="an address that begins with postgresql://",
        ),
    ] = None
    secret_file: Annotated[
        str | None,
        _store(
            "A file (mode 0600) for the secrets that draw arms, instead of the store: its backups are without them."
        ),
    ] = None
    imports: Annotated[
        tuple[str, ...],
        _store("Files that declare policies of your own.", flag="import", metavar="FILE.py"),
    ] = ()
    store_deadline: Annotated[
        float,
        _store("Seconds after which a PostgreSQL that does not answer is given up.", ge=1, le=600),
    ] = 10.0  # equal to adhere.store.DEADLINE, which is not imported because that would slow down every command

    admin_token_file: Annotated[
        str | None,
        _store("A new file for the first admin token (mode 0600); needed at the first start unless on a terminal."),
    ] = None

    host: Annotated[str, _address("The address to listen on.", min_length=1)] = "127.0.0.1"
    port: Annotated[int, _address("The port; 0 takes any free one.", ge=0, le=65535)] = 8000
    workers: Annotated[int, _address("Processes; more than one with PostgreSQL only.", ge=1, le=1000)] = 1
    root_path: Annotated[
        str,
        _address(
            "The path under which a proxy serves this, such as /adhere, whether or not the proxy removes it.",
            metavar="PATH",
            check=is_root_path,
            expected="a path such as /adhere: it begins with a slash, does not end with one, and has only letters, "
            "digits and . _ ~ - between slashes",
        ),
    ] = ""
    tls_certificate: Annotated[str | None, _address("The certificate (PEM, with its chain) for HTTPS.")] = None
    tls_key: Annotated[str | None, _address("The certificate's private key (PEM).")] = None
    start_seconds: Annotated[
        float,
        _address(
            "Seconds for which a start is tried again while the database, its file or the port cannot be had.",
            ge=0,
            le=86400,
        ),
    ] = 30.0
    shutdown_seconds: Annotated[
        int, _address("Seconds that open requests get to end when the service stops.", ge=1, le=3600)
    ] = 30

    trusted_proxies: Annotated[
        tuple[str, ...],
        _browsers(
            "Addresses or networks of proxies whose X-Forwarded-For names the client.",
            metavar="ADDRESS,…",
            check=are_networks,
            expected="IP addresses or networks, such as 127.0.0.1 or 10.0.0.0/8",
        ),
    ] = ()
    cors_origins: Annotated[
        tuple[str, ...],
        _browsers(
            "Origins of web pages that may use the service from a browser; * allows all.",
            metavar="ORIGIN,…",
            check=are_origins,
            expected="origins such as https://trial.example.org, or *",
        ),
    ] = ()

    time_zones: Annotated[
        tuple[str, ...],
        _browsers(
            "Time zones in which the days of sites are counted: one for all sites, SITE=ZONE for one; else UTC.",
            metavar="ZONE,SITE=ZONE,…",
            check=are_time_zones,
            expected="time zones such as Europe/London, or Oslo=Europe/Oslo for the site Oslo, each site once",
        ),
    ] = ()

    session_hours: Annotated[
        float, _browsers("Hours after which people sign in to the pages again.", gt=0, le=720)
    ] = 12.0

    tap_delay: Annotated[
        float,
        _browsers(
            "Seconds for which a page that was just shown, or a button that just moved, ignores taps and keys.",
            ge=0,
            le=10,
        ),
    ] = 1.0

    max_body_bytes: Annotated[int, _limit("The largest body of a request.", ge=1024, le=2**30)] = 64 * 1024
    token_rate: Annotated[float, _limit("Requests a second with one token.", gt=0)] = 10_000.0
    token_burst: Annotated[float, _limit("Requests at once with one token after a rest.", ge=1)] = 20_000.0
    token_requests: Annotated[int, _limit("Requests of one token that are under way at once.", ge=1)] = 128
    session_requests: Annotated[
        int, _limit("Requests of one session in a browser that are under way at once.", ge=1)
    ] = 32
    token_streams: Annotated[
        int, _limit("Open monitor pages of one token that are told of news, of all its sessions.", ge=1)
    ] = 64
    session_streams: Annotated[
        int, _limit("Open monitor pages of one session in a browser that are told of news.", ge=1)
    ] = 16
    failure_rate: Annotated[float, _limit("Requests a second without a valid token from one address.", gt=0)] = 2.0
    failure_burst: Annotated[
        float, _limit("Requests at once without a valid token from one address after a rest.", ge=1)
    ] = 30.0
    max_connections: Annotated[
        int,
        _limit(
            "Open connections, of all processes together; beyond them one without a request is closed: of a token "
            "that has more than half of them, or the oldest that has shown no valid token, or of the token that has "
            "the most. Requests of one token take a quarter at most, its streams another. 0 takes as many as the "
            "limit of open files allows, at most 4096.",
            ge=0,
        ),
    ] = 0
    head_timeout: Annotated[
        float, _limit("Seconds from connecting to the first request, and for each request's head.", gt=0)
    ] = 10.0
    body_timeout: Annotated[float, _limit("Seconds for the body of a request to come.", gt=0)] = 30.0
    idle_timeout: Annotated[float, _limit("Seconds from a response to the next request.", gt=0)] = 75.0
    read_timeout: Annotated[
        float, _limit("Seconds in which a client must read some of a response that waits for it.", gt=0)
    ] = 60.0

    impute_every: Annotated[
        float, _interval("Seconds between two searches for overdue reports, and looks.", gt=0)
    ] = 60.0
    last_use_every: Annotated[
        float, _interval("Seconds between two times at which the last use of tokens is written.", gt=0)
    ] = 60.0
    refresh_every: Annotated[
        float, _interval("Seconds after which a token revoked by another process is refused.", gt=0)
    ] = 2.0

    log_level: Annotated[Literal["debug", "info", "warning", "error"], _log("What is logged.")] = "info"
    log_file: Annotated[
        str | None,
        _log("A file for the log instead of standard error; opened anew when renamed."),
    ] = None
    slow_request: Annotated[float, _log("Seconds from which on a request is logged.", gt=0)] = 1.0

    metrics_open: Annotated[
        bool,
        _monitoring("/metrics without a token, and nothing of looks in it; else it needs a role, metrics or admin."),
    ] = False
    verify_heads: Annotated[
        str | None,
        _monitoring(
            "Verify all trials regularly: their logs must continue the heads in this file, and new ones are added.",
            check=_in_existing_folder,
            expected="a file in an existing folder",
        ),
    ] = None
    verify_every: Annotated[float, _monitoring("Seconds between two verifications of a trial.", gt=0)] = 86400.0

    @property
    def store(self) -> str | Path:
        """Return the place of the trials: an address of PostgreSQL or a file."""
        return self.database_url or Path(self.data)


SETTINGS: Final[Mapping[str, Setting]] = {field.name: _setting(field) for field in fields(ServiceSettings)}
