"""The reference of the command line, from the program's own help."""

from __future__ import annotations

from collections.abc import Iterator

import click
import typer.main

from adhere.cli.main import COMMANDS, app, app_of

_WIDTH = 100


def command_line_page() -> str:
    """Return one page with every command and its options."""
    lines = ["# Command line", "", "Each section is what `--help` prints for a command.", ""]
    root = typer.main.get_command(app)
    lines += _section(root, ("adhere",), None)
    for name in COMMANDS:
        lines += _sections(
            typer.main.get_command(app_of(name)), ("adhere", name), click.Context(root, info_name="adhere")
        )
    return "\n".join(lines)


def _sections(command: click.Command, words: tuple[str, ...], parent: click.Context) -> Iterator[str]:
    if not command.hidden:
        yield from _section(command, words, parent)
        for name, part in getattr(command, "commands", {}).items():
            yield from _sections(part, (*words, name), click.Context(command, parent, info_name=words[-1]))


def _section(command: click.Command, words: tuple[str, ...], parent: click.Context | None) -> tuple[str, ...]:
    context = click.Context(command, parent, info_name=words[-1], terminal_width=_WIDTH, max_content_width=_WIDTH)
    return f"## {' '.join(words)}", "", "```text", command.get_help(context), "```", ""
