"""`adhere serve`: serve live trials over HTTP, with an option for each setting."""

from __future__ import annotations

from dataclasses import make_dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer
from typer.core import TyperCommand

from adhere.cli.options import EndedError, with_groups
from adhere.errors import InputError, StoreError, UnavailableError
from adhere.service.settings import SETTINGS, Setting
from adhere.service.settings_sources import check_settings, read_settings, settings_toml
from adhere.service.starting import LATER, REFUSED, StartError

app = typer.Typer(add_completion=False, rich_markup_mode=None)


class GroupedCommand(TyperCommand):
    """A command with options listed in groups in its help. Typer supports this only for coloured help."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the options."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for option in self.get_params(ctx):
            if record := option.get_help_record(ctx):
                groups.setdefault(getattr(option, "rich_help_panel", None) or "Options", []).append(record)
        for title, records in groups.items():
            with formatter.section(title):
                formatter.write_dl(records)


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


if TYPE_CHECKING:
    Flags: TypeAlias = Any
else:
    Flags = make_dataclass("Flags", [(name, _option(one), None) for name, one in SETTINGS.items()])


@app.command(cls=GroupedCommand)
@with_groups
def serve(
    *,
    file: Annotated[
        Path | None, typer.Option("--settings", metavar="FILE", help="A TOML file of settings.  [$ADHERE_SETTINGS]")
    ] = None,
    show_settings: Annotated[
        bool, typer.Option("--show-settings", help="Print every setting, its value and its source, and exit.")
    ] = False,
    flags: Flags,
) -> None:
    """Serve live trials over HTTP: recommend now, and accept reports late, out of order, twice or never. Nothing is
    lost.

    \b
      adhere serve                                        127.0.0.1:8000, trials in adhere.db
      adhere serve --database-url postgresql://… --workers 4

    The first start shows an admin token on the terminal, once, or writes it to --admin-token-file. Use it to create
    trials and tokens for sites and statisticians:

    \b
      curl -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json" \\
           -d '{"name": "headache", "policy": "thompson", "arms": ["walk", "aspirin"]}' \\
           http://127.0.0.1:8000/trials

    Or use Python: adhere.Client("http://127.0.0.1:8000", token). /openapi.json describes every request. Stop the
    service with Ctrl-C, SIGTERM or SIGHUP: open requests are answered first. To serve other machines, put a proxy
    with TLS before it (deploy/ has one), or give it a certificate.

    Every setting has a flag, an environment variable (ADHERE_PORT for --port), a line in the settings file (port =
    8000), and a default; the first of these that is given counts. Lists are separated by commas. See also
    docs/how-to/install-and-run-the-service.md.

    Exit status: 2 for wrong settings; 65 for a database that needs a person (damaged, records missing); 75 for a
    fault that may pass (a database that does not answer, a port or a file in use, a full disk, too little memory),
    after --start-seconds of tries.
    """
    read = read_settings(vars(flags), file)
    if show_settings:
        typer.echo(settings_toml(read))
        check_settings(read.settings)
        return
    try:
        from adhere.service.serve import serve as run
    except Exception as error:  # libraries that cannot be mapped into memory raise many kinds of errors
        if not _is_missing(error):
            reason = str(error).partition("\n")[0] or type(error).__name__
            sentence = f"a library cannot be loaded, perhaps for lack of memory: {reason}"
            raise EndedError(sentence, LATER) from None
        sentence = (
            "`adhere serve` needs the service extra: pip install 'adhere[service]' "
            "(in a checkout: ./packages/adhere-client '.[service]')"
        )
        raise InputError("serve", None, "the service extra", sentence) from None
    try:
        run(read.settings)
    except (StartError, UnavailableError, OSError) as error:
        raise EndedError(str(error), LATER) from None
    except StoreError as error:
        raise EndedError(str(error), REFUSED) from None


def _is_missing(error: Exception) -> bool:
    """Return whether a library is not installed at all."""
    name = error.name if isinstance(error, ModuleNotFoundError) else None
    return name is not None and find_spec(name.partition(".")[0]) is None
