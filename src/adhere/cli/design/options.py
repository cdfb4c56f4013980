"""What the commands of `adhere design` share: files of designs and scenarios, and how results are shown."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adhere.cli.destinations import check_file
from adhere.cli.options import STANDARD_OUTPUT, integer, json_text

if TYPE_CHECKING:
    from adhere.design.design import Design
    from adhere.evaluation.evaluation import Evaluation
    from adhere.evaluation.search.calibration import Calibration
    from adhere.evaluation.search.sample_size import SampleSize

DesignFile = Annotated[Path, typer.Argument(metavar="FILE", help="A design, as TOML or JSON.")]
Scenarios = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME|FILE",
        help="A population, or a file with a table [scenarios]. Repeatable.  [default: those in FILE, or a grid]",
    ),
]
Trials = Annotated[int, typer.Option(metavar="N", parser=integer, help="Simulated trials of each scenario.")]


def read_design(path: Path) -> Design:
    """The design in a file; what looks odd in it is said on standard error."""
    from adhere.design.checks import check
    from adhere.design.design_file import load_design

    design = load_design(path)
    for warning in check(design):
        typer.echo(f"note: {warning}", err=True)
    return design


def input_files(designs: list[Path], scenarios: list[str] | None, imports: list[Path] | None) -> list[Path]:
    """What is read: designs, scenarios and the populations that they name, own policies; names of none are none."""
    from adhere.evaluation.scenarios.scenarios import scenario_table

    given = [*designs, *map(Path, scenarios or ())]
    named: list[Path] = []
    for path in given:
        populations = (scenario_table(path) or {}).get("populations")
        if isinstance(populations, list):
            named += [path.parent / one for one in populations if isinstance(one, str)]
    return [*given, *named, *(imports or ())]


def json_path(json_file: str | None) -> Path | None:
    """The file that JSON goes to; None for standard output and if none was asked for."""
    if json_file is None or json_file == STANDARD_OUTPUT:
        return None
    path = Path(json_file)
    check_file("--json", path)
    return path


def show(found: Evaluation | Calibration | SampleSize, width: int, json_file: str | None) -> str:
    """Print results, as JSON if that goes to standard output; returns them as JSON.

    First what people see, then files: a disk that fills up must not cost them the results.
    """
    text = json_text(found.to_json())
    typer.echo(text if json_file == STANDARD_OUTPUT else f"{found.summary(width)}\n", nl=False)
    return text


def design_text(design: Design, source: Path, suffix: str) -> str:
    """A design as TOML or JSON, with the scenarios of the file that it was made from."""
    from adhere.evaluation.scenarios.scenarios import scenario_table

    scenarios = scenario_table(source)
    if suffix == ".json":
        document = json.loads(design.to_json())
        return json_text(document if scenarios is None else document | {"scenarios": scenarios})
    if scenarios is None:
        return design.to_toml()
    lines = ["[scenarios]", *(f"{name} = {_toml(value)}" for name, value in scenarios.items())]
    return "\n".join([design.to_toml(), *lines, ""])


def _toml(value: object) -> str:
    """A value in one line of TOML, which writes numbers and texts as JSON does, and tables otherwise."""
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{json.dumps(name)} = {_toml(one)}' for name, one in value.items())} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value)
