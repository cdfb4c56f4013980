"""The options of `adhere serve`: one for each setting, in groups."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from adhere.service.settings import SETTINGS, Setting


class GroupedCommand(TyperCommand):
    """A command whose help lists its options in groups; Typer has that for coloured help only."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the options."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for option in self.get_params(ctx):
            if record := option.get_help_record(ctx):
                groups.setdefault(getattr(option, "rich_help_panel", None) or "Options", []).append(record)
        for title, records in groups.items():
            with formatter.section(title):
                formatter.write_dl(records)


def with_settings(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command an option for each setting; it gets their values by the names of the settings."""
    own = [
        parameter
        for parameter in inspect.signature(command, eval_str=True).parameters.values()
        if parameter.kind is not inspect.Parameter.VAR_KEYWORD
    ]
    made = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=_option(setting))
        for name, setting in SETTINGS.items()
    ]
    command.__signature__ = inspect.Signature([*own, *made])  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in (*own, *made)}
    return command


def _option(setting: Setting) -> Any:
    kind: Any = list[str] if setting.many else bool if setting.type is bool else str
    metavar = None if setting.type is bool else setting.metavar
    shown = f"  [{setting.shown_default}]" if setting.shown_default else ""
    option = typer.Option(
        setting.flag if setting.type is not bool else f"{setting.flag}/--no-{setting.flag[2:]}",
        metavar=metavar,
        help=f"{setting.description}{shown}",
        rich_help_panel=setting.group,
    )
    return Annotated[kind | None, option]
