"""The reference of the command line, from the program's own help."""

from __future__ import annotations

from collections.abc import Iterator

import click
import typer.main

from adhere.cli.main import app


def command_line_page() -> str:
    """Return one page with every command and its options."""
    root = typer.main.get_command(app)
    lines = ["# Command line", "", "Each section is what `--help` prints for a command.", ""]
    for words, command in _commands(root, ("adhere",)):
        help_text = command.get_help(click.Context(command, info_name=" ".join(words)))
        lines += [f"## {' '.join(words)}", "", "```text", help_text, "```", ""]
    return "\n".join(lines)


def _commands(command: click.Command, words: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    if not command.hidden:
        yield words, command
        for name, part in getattr(command, "commands", {}).items():
            yield from _commands(part, (*words, name))
