"""Options shared by the commands of `adhere design`, and functions that read their designs and scenarios."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adhere.cli.destinations import check_outputs, print_results
from adhere.cli.options import Imports, JsonFile, Seed, import_all, integer_option, json_text

if TYPE_CHECKING:
    from adhere.design.design import Design
    from adhere.evaluation.evaluation import Evaluation
    from adhere.evaluation.search.calibration import Calibration
    from adhere.evaluation.search.sample_size import SampleSize

DesignFile = Annotated[Path, typer.Argument(metavar="FILE", help="A design, as TOML or JSON.")]


@dataclass(frozen=True)
class Simulated:
    """Options of every command that simulates designs."""

    scenarios: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME|FILE",
            help="A population, or a file with a table [scenarios]. Repeatable.  [default: those in FILE, or a grid]",
        ),
    ] = None
    trials: Annotated[int, integer_option("Simulated trials per scenario.")] = 10_000
    seed: Seed = 0
    json_file: JsonFile = None
    imports: Imports = None

    def read(self, designs: list[Path], outputs: Mapping[str, Path | None]) -> list[Design]:
        """Check that the outputs, each named by its option, can be written. Then read the designs."""
        check_outputs({"--json": self.json_file, **outputs}, self._input_files(designs))
        import_all(self.imports)
        return [read_design(path) for path in designs]

    def arguments(self, file: Path) -> dict[str, Any]:
        """Return the arguments for a simulation. By default, the scenarios are those in the design's file."""
        from adhere.evaluation.scenarios.scenarios import given_or_own

        scenarios = given_or_own(self.scenarios or None, file)
        return {"scenarios": scenarios, "n_trials": self.trials, "seed": self.seed}

    def print_results(self, found: Evaluation | Calibration | SampleSize, width: int) -> dict[Path, bytes]:
        """Print the results. Return the content of the JSON file, if there is one."""
        return print_results(f"{found.summary(width)}\n", json_text(found.to_json()), self.json_file)

    def _input_files(self, designs: list[Path]) -> list[Path]:
        """Return the input files: designs, scenarios, the populations that they name, and policies."""
        from adhere.evaluation.scenarios.scenarios import scenario_table

        given = [*designs, *map(Path, self.scenarios or ())]
        named: list[Path] = []
        for path in given:
            populations = (scenario_table(path) or {}).get("populations")
            if isinstance(populations, list):
                named += [path.parent / one for one in populations if isinstance(one, str)]
        return [*given, *named, *(self.imports or ())]


def read_design(path: Path) -> Design:
    """Read the design in a file, and print warnings about it on standard error."""
    from adhere.design.checks import check
    from adhere.design.design_file import load_design

    design = load_design(path)
    for warning in check(design):
        typer.echo(f"note: {warning}", err=True)
    return design


def design_text(design: Design, source: Path, suffix: str) -> str:
    """Return a design as TOML or JSON, with the scenarios of its source file."""
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
    """Return a value in one line of TOML. Numbers and texts are as in JSON, but tables are not."""
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{json.dumps(name)} = {_toml(one)}' for name, one in value.items())} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value)
