"""What is declared of a setting besides its value, and the table of settings made from that."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import UnionType
from typing import Any, Final, Literal, Union, get_args, get_origin

import msgspec
from msgspec import Meta

Group = Literal["Store", "Address", "Proxies and browsers", "Limits", "Intervals", "Logs", "Monitoring"]


@dataclass(frozen=True)
class _About:
    group: Group
    flag: str | None
    metavar: str | None
    expected: str | None
    check: Callable[[Any], bool] | None
    secret: bool


def about(
    group: Group,
    description: str,
    *,
    flag: str | None = None,
    metavar: str | None = None,
    expected: str | None = None,
    check: Callable[[Any], bool] | None = None,
    secret: bool = False,
    **bounds: Any,
) -> Meta:
    """What `ServiceSettings` says of a field besides its type and default.

    `bounds` are those of `msgspec.Meta` (``gt=0``); `check` is for what they cannot say, and `expected` its words in
    an error. The flag and its metavar follow from the name and type unless given. A `secret` is hidden when shown.
    """
    hidden = _About(group, flag, metavar, expected, check, secret)
    return Meta(description=description, extra={"about": hidden}, **bounds)


@dataclass(frozen=True)
class Setting:
    """One setting as declared."""

    name: str
    type: Any  # without its bounds and, where it may be left out, without None
    annotation: Any  # as declared
    default: Any
    description: str
    group: Group
    flag: str
    metavar: str
    expected: str | None
    check: Callable[[Any], bool] | None
    secret: bool

    @property
    def variable(self) -> str:
        """The name of its environment variable, such as ADHERE_PORT."""
        return f"ADHERE_{self.name.upper()}"

    @property
    def many(self) -> bool:
        """Whether it is a list."""
        return get_origin(self.type) is tuple

    @property
    def shown_default(self) -> str:
        """The default in short; empty if there is none, or nothing."""
        if isinstance(self.default, float):
            return f"{self.default:.15g}"
        return str(self.default or "")


_METAVARS: Final[Mapping[Any, str]] = {int: "N", float: "NUMBER", str: "TEXT"}


def _setting(field: msgspec.structs.FieldInfo) -> Setting:
    bare, meta = get_args(field.type)
    said: _About = meta.extra["about"]
    if get_origin(bare) in (Union, UnionType):
        (bare,) = (part for part in get_args(bare) if part is not type(None))
    metavar = "|".join(get_args(bare)) if get_origin(bare) is Literal else _METAVARS.get(bare, "TEXT")
    return Setting(
        name=field.name,
        type=bare,
        annotation=field.type,
        default=field.default,
        description=meta.description,
        group=said.group,
        flag=f"--{said.flag or field.name.replace('_', '-')}",
        metavar=said.metavar or metavar,
        expected=said.expected,
        check=said.check,
        secret=said.secret,
    )


def declared(struct: type[msgspec.Struct]) -> Mapping[str, Setting]:
    """The settings of a struct whose fields are annotated with what is `about` them."""
    return {field.name: _setting(field) for field in msgspec.structs.fields(struct)}
