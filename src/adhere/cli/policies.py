"""`adhere policies`: list the policies, explain one, or check the policies in a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adhere.cli.options import Imports, import_all, terminal_width

if TYPE_CHECKING:
    from adhere.policies import Policy
    from adhere.policies.base.description import ParameterDescription

_PROTOCOLS = """\
A protocol after a learner's name selects the arm that is credited with a reward:
  thompson/chosen  the arm recommended (intention-to-treat); like plain thompson
  thompson/actual  the arm taken (as-treated)
  thompson/comply  the arm recommended, if it was taken, otherwise no arm
                   (per-protocol)
  'thompson/credit[0 1; - 1]'
                   by your own table: a row per arm recommended and a column
                   per arm taken; the entry is the arm to credit, from 0, or -
                   for no arm
A hybrid sets the protocols of the learners inside it. In a shell, quote a policy
that contains brackets or spaces."""


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
    """List every policy, or explain one: what it does, its parameters, and how to write it.

    With --check, find out whether your own policies keep the rules: arms and indices in range, a state that only
    learning changes, probabilities that match the frequencies of arms, late feedback, ties that favour no arm, the
    same arms in a live trial as in a simulation, and a GPU. Each policy is played in Python. Then it is compiled with
    bounds checks and played on 2,000 patients of several kinds, including defiers. Faults are reported with file and
    line. This takes about ten seconds per policy, up to half a minute if it works with matrices. The exit status is 0
    if nothing is wrong, 1 if something is, and 2 if there is nothing to check.

    \b
      adhere policies
      adhere policies hierarchical
      adhere policies --import mine.py
      adhere policies --check mine.py
      adhere policies --check mine.py 'softmax(temperature=0.05)'
    """
    from adhere.policies.base.description import describe
    from adhere.policies.base.registry import lookup, registry
    from adhere.report.text_table import paragraph

    import_all(imports)
    if check is not None:
        _check(check, name)
        return
    if name is not None:
        _explain(lookup(name.strip().lower()))
        return
    for _, cls in sorted(registry.items()):
        found = describe(cls)
        typer.secho(found.name, bold=True)
        if found.summary:
            typer.echo(paragraph(found.summary, terminal_width(), indent="    "))
        typer.echo(f"    e.g. {found.example}\n")
    typer.echo(_PROTOCOLS)


def _check(file: Path, name: str | None) -> None:
    from adhere.compilation.storage import note_checked
    from adhere.contract import check_policies
    from adhere.policies import import_policies

    def announce(policy: str) -> None:
        typer.echo(f"compiling {policy} with bounds checks (once; then it is cached on disk)", err=True)

    reports = check_policies(file, name, on_compiling=announce)
    for report in reports:
        typer.echo(str(report))
    broken = [finding for report in reports for finding in report.findings if finding.kept is False]
    n_checks = sum(len(report.findings) for report in reports)
    typer.echo(f"{n_checks} checks, {len(broken)} failed" if broken else f"{n_checks} checks, none failed")
    if broken:
        raise typer.Exit(1)
    if name is None:  # all policies of the file
        note_checked(import_policies(file).__name__)


def _explain(cls: type[Policy]) -> None:
    from adhere.policies.base.description import describe, paragraphs
    from adhere.report.text_table import paragraph

    found = describe(cls)
    typer.secho(f"{found.name}, a {found.kind}\n", bold=True)
    for part in paragraphs(cls):
        is_prose = not part.startswith(("..", " "))
        typer.echo((paragraph(part, terminal_width()) if is_prose else part) + "\n")
    typer.secho("Parameters", bold=True)
    width = max((len(one.name) for one in found.parameters), default=0)
    for one in found.parameters:
        typer.echo(f"  {one.name:{width}s}  {one.expected} ({_default(one)})")
        if one.meaning:
            typer.echo(paragraph(one.meaning, terminal_width(), indent=" " * (width + 4)))
    if not found.parameters:
        typer.echo("  none")
    if found.takes_protocol:
        typer.echo(f"\n{_PROTOCOLS}")


def _default(one: ParameterDescription) -> str:
    if one.required:
        return "required"
    return "optional" if one.default is None else f"default {one.default}"
