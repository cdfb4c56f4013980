"""`adhere design run` and `adhere design compare`: simulate designs, and report how they behave."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adhere.cli.design.options import (
    DesignFile,
    Scenarios,
    Trials,
    input_files,
    json_path,
    read_design,
    show,
)
from adhere.cli.destinations import check_apart, check_page, check_table, table_file, write_files
from adhere.cli.options import Cluster, Device, Imports, JsonFile, Seed, Threads, import_all, machines
from adhere.errors import InputError

if TYPE_CHECKING:
    pass

HtmlFile = Annotated[
    Path | None,
    typer.Option("--html", metavar="FILE", readable=False, help="Write a report, one HTML file, for a protocol."),
]
TableFile = Annotated[
    Path | None,
    typer.Option("--table", metavar="FILE", readable=False, help="Write all characteristics: .csv or .parquet."),
]


def run(
    file: DesignFile,
    scenarios: Scenarios = None,
    trials: Trials = 10_000,
    seed: Seed = 0,
    html: HtmlFile = None,
    json_file: JsonFile = None,
    table: TableFile = None,
    imports: Imports = None,
    threads: Threads = None,
    device: Device = "cpu",
    cluster: Cluster = None,
) -> None:
    """Simulate trials of a design in several scenarios, and report how it behaves: type I error, power, what it
    concludes, sample size, duration, who is recommended and who takes which arm, bias and coverage of estimates.

    \b
      adhere design run trial.toml
      adhere design run trial.toml --html report.html --trials 100000
      adhere design run trial.toml --scenarios defiers --scenarios mine.toml
      adhere design run trial.toml --json - --device cuda

    Scenarios are populations, or a grid in three lines of TOML, in the design's own file or in another one:

    \b
      [scenarios]
      effect = [0.1, 0.2]            # of the treatment, where it is taken; by arm: {low = 0.1, high = 0.2}
      compliance = [1.0, 0.7]        # the share of patients who take what is recommended
      confounding = [0.0, 0.2]       # by how much the others differ in their outcomes

    Two nulls are added at each compliance: sharp (no effect on anyone) and average (effects that cancel out). Type I
    error is counted under both. Intervals are of the simulation: more trials narrow them.
    """
    _evaluate([file], scenarios, trials, seed, html, json_file, table, imports, threads, device, cluster)


def compare(
    file: Annotated[list[Path], typer.Argument(metavar="FILE FILE…", help="Designs, as TOML or JSON.")],
    scenarios: Scenarios = None,
    trials: Trials = 10_000,
    seed: Seed = 0,
    html: HtmlFile = None,
    json_file: JsonFile = None,
    table: TableFile = None,
    imports: Imports = None,
    threads: Threads = None,
    device: Device = "cpu",
    cluster: Cluster = None,
) -> None:
    """Simulate several designs on the same patients, and report how each differs from the first.

    \b
      adhere design compare adaptive.toml fixed.toml
      adhere design compare chosen.toml actual.toml --html side-by-side.html
      adhere design compare floor.toml no-floor.toml --scenarios grid.toml

    All designs have the same arms, and meet the scenarios of the first file or those of --scenarios. Differences are
    paired, trial by trial, so that small ones show.
    """
    if len(file) < 2:
        raise InputError("FILE", [str(one) for one in file], "at least two designs; adhere design run takes one")
    _evaluate(file, scenarios, trials, seed, html, json_file, table, imports, threads, device, cluster)


def _evaluate(
    paths: list[Path],
    scenarios: list[str] | None,
    trials: int,
    seed: int,
    html: Path | None,
    json_file: str | None,
    table: Path | None,
    imports: list[Path] | None,
    threads: int | None,
    device: str,
    cluster: str | None,
) -> None:
    to_json = json_path(json_file)
    _check_destinations(to_json, html, table, input_files(paths, scenarios, imports))
    import_all(imports)
    designs = [read_design(path) for path in paths]
    _check_names({str(path): design.name for path, design in zip(paths, designs, strict=True)}, len(paths))
    from adhere.evaluation.evaluate import evaluate
    from adhere.evaluation.scenarios.scenarios import given_or_own

    meeting = given_or_own(scenarios or None, paths[0])
    with machines(threads, device, cluster) as where:
        found = evaluate(designs, meeting, trials, seed, **where)
    text = show(found, shutil.get_terminal_size((100, 24)).columns, json_file)
    contents = {} if to_json is None else {to_json: text.encode()}
    if html is not None:
        contents[html] = found.to_html(_command(paths, scenarios, imports, trials, seed)).encode()
    if table is not None:
        contents[table] = table_file(found.to_polars(), table)
    write_files(contents, before=lambda: None)


def _command(
    paths: list[Path], scenarios: list[str] | None, imports: list[Path] | None, trials: int, seed: int
) -> str:
    """What repeats the results, on any machine."""
    words = ["adhere", "design", "run" if len(paths) == 1 else "compare", *map(str, paths)]
    for option, values in (("--scenarios", scenarios or ()), ("--import", imports or ())):
        words += [word for value in values for word in (option, str(value))]
    return shlex.join([*words, "--trials", str(trials), "--seed", str(seed)])


def _check_names(names: dict[str, str], n_files: int) -> None:
    """Results are identified by the names of designs."""
    if len(names) < n_files:
        raise InputError("FILE", list(names), "each file once")
    by_name: dict[str, str] = {}
    for file, name in names.items():
        if (other := by_name.setdefault(name, file)) != file:
            sentence = f"FILE: {other} and {file} both have the name {name!r}; give each a name of its own (name = …)"
            raise InputError("FILE", name, "another name in each file", sentence)


def _check_destinations(to_json: Path | None, html: Path | None, table: Path | None, inputs: list[Path]) -> None:
    """Find out before the work, not after it, that its results cannot be kept."""
    if html is not None:
        check_page("--html", html)
    if table is not None:
        check_table("--table", table)
    check_apart({"--json": to_json, "--html": html, "--table": table}, inputs)
