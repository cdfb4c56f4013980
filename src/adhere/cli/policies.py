"""`adhere policies`: list the policies, explain one, or check those of a file."""

from __future__ import annotations

import dataclasses
import doctest
import inspect
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adhere.cli.options import Imports, import_all
from adhere.errors import InputError

if TYPE_CHECKING:
    from adhere.policies import Policy

_PROTOCOLS = """\
A protocol after a learner's name says which arm is credited with a reward:
  thompson/chosen  the arm recommended (intention-to-treat); as plain thompson
  thompson/actual  the arm taken (as-treated)
  thompson/comply  the arm recommended, if it was taken, else none (per-protocol)
  'thompson/credit[0 1; - 1]'
                   by a table of your own: a row for each arm recommended, a
                   column for each arm taken, in it the arm to credit, from 0,
                   or - for none
A hybrid sets the protocols of the learners inside it. In a shell, put what has
brackets or spaces in quotes."""

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def policies(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Explain, or check, this one.", show_default=False)
    ] = None,
    imports: Imports = None,
    check: Annotated[
        Path | None,
        typer.Option(
            "--check", metavar="FILE.py", help="Check the policies that this file declares.", show_default=False
        ),
    ] = None,
) -> None:
    """List every policy, or explain one: what it does, its parameters, how to write it.

    With --check, find out whether your own policies keep what they promise: arms
    and indices in range, a state that only learning changes, probabilities that
    match the frequencies of arms, late feedback, the same arms in a live trial
    as in a simulation, a GPU. Each is played as Python, where what is wrong is
    named with its file and line, then compiled with bounds checks (some
    seconds). Exit status 0: nothing is wrong, 1: something is, 2: there is
    nothing to check.

    \b
      adhere policies
      adhere policies hierarchical
      adhere policies --import mine.py
      adhere policies --check mine.py
      adhere policies --check mine.py 'softmax(temperature=0.05)'
    """
    from adhere.policies import registry
    from adhere.policies.registry import lookup

    import_all(imports)
    if check is not None:
        _check(check, name)
        return
    if name is not None:
        _explain(lookup(name.strip().lower()))
        return
    for cls in registry.values():
        _list(cls)
    typer.echo(_PROTOCOLS)


def _check(file: Path, name: str | None) -> None:
    from adhere.compilation.checked import note_checked
    from adhere.contract import check_policies
    from adhere.policies import import_policies

    def announce(policy: str) -> None:
        typer.echo(f"compiling {policy} with bounds checks (once; then it is kept on disk)", err=True)

    reports = check_policies(file, name, on_compiling=announce)
    for report in reports:
        typer.echo(str(report))
    broken = [finding for report in reports for finding in report.findings if finding.kept is False]
    n_checks = sum(len(report.findings) for report in reports)
    typer.echo(f"{n_checks} checks, {len(broken)} failed" if broken else f"{n_checks} checks, none failed")
    if broken:
        raise typer.Exit(1)
    if name is None:  # all of them
        note_checked(import_policies(file).__name__)


def _list(cls: type[Policy]) -> None:
    from adhere.report.wrapping import paragraph

    typer.secho(cls.name, bold=True)
    summary = _documentation(cls).split("\n\n")[0]
    if summary:
        typer.echo(paragraph(summary, _width(), indent="    "))
    typer.echo(f"    e.g. {_example(cls)}\n")


def _explain(cls: type[Policy]) -> None:
    from adhere.policies import ComplianceAwareLearner, Learner
    from adhere.policies.guard import Guard
    from adhere.report.wrapping import paragraph

    kinds = {Learner: "a learner", ComplianceAwareLearner: "a learner that sees both arms", Guard: "a guard"}
    kind = next((words for base, words in kinds.items() if issubclass(cls, base)), "a hybrid")
    typer.secho(f"{cls.name}, {kind}\n", bold=True)
    for part in filter(None, _prose(cls).split("\n\n")):
        is_prose = not part.startswith(("..", " "))
        typer.echo((paragraph(part, _width()) if is_prose else part) + "\n")
    typer.secho("Parameters", bold=True)
    fields = [item for item in dataclasses.fields(cls) if item.name != "protocol"]
    width = max((len(item.name) for item in fields), default=0)
    meanings = _meanings(cls)
    for item in fields:
        typer.echo(f"  {item.name:{width}s}  {_expected(item)}")
        if item.name in meanings:
            typer.echo(paragraph(meanings[item.name], _width(), indent=" " * (width + 4)))
    if not fields:
        typer.echo("  none")
    if issubclass(cls, Learner):
        typer.echo(f"\n{_PROTOCOLS}")


def _width() -> int:
    return shutil.get_terminal_size().columns


def _documentation(cls: type[Policy]) -> str:
    return inspect.cleandoc(cls.__doc__ or "")


def _sections(cls: type[Policy]) -> tuple[str, dict[str, str]]:
    """What the documentation says first, and its sections by title."""
    before, *sections = re.split(r"^(\w+)\n-+\n", _documentation(cls), flags=re.MULTILINE)
    return before, dict(zip(sections[::2], sections[1::2], strict=True))


def _meanings(cls: type[Policy]) -> dict[str, str]:
    """What the documentation says of each parameter."""
    _, titled = _sections(cls)
    found = re.findall(r"^(\w[\w, ]*)\n((?: +.*\n?)+)", titled.get("Parameters", ""), flags=re.MULTILINE)
    return {name: inspect.cleandoc(text) for names, text in found for name in names.split(", ")}


def _prose(cls: type[Policy]) -> str:
    """What the documentation says, without the sections for readers of the source."""
    before, titled = _sections(cls)
    references = f"Reference: {titled['References']}" if "References" in titled else ""
    return f"{before}\n\n{titled.get('Notes', '')}\n\n{references}"


def _example(cls: type[Policy]) -> str:
    """The first policy that the class's own doctest writes out, else the bare name."""
    for example in doctest.DocTestParser().get_examples(_documentation(cls)):
        written = example.want.strip().strip("'")
        if written.startswith(cls.name):
            return written
    return cls.name


def _expected(item: dataclasses.Field[Any]) -> str:
    """What a parameter must be, in the words of its own check, and its default."""
    from adhere.policies.policy import text_of

    check = item.metadata.get("check")
    words = _expectation(check, object()) if check else str(item.type)
    if item.default is dataclasses.MISSING or (check and _expectation(check, item.default)):
        return f"{words} (required)"
    return f"{words} ({'optional' if item.default is None else f'default {text_of(item.default)}'})"


def _expectation(check: Any, value: object) -> str:
    try:
        check("", value)
    except InputError as error:
        return error.expected
    return ""
