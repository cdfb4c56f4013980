"""`adhere simulate`: compare policies on populations."""

from __future__ import annotations

import shutil
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adhere.cli.destinations import (
    check_apart,
    check_file,
    check_folder,
    check_plot,
    check_table,
    table_file,
    write_files,
)
from adhere.cli.options import (
    STANDARD_OUTPUT,
    Actual,
    ArmsInOrder,
    Chosen,
    Cluster,
    Control,
    CountColumn,
    Device,
    Imports,
    JsonFile,
    LowerIsBetter,
    Reward,
    Seed,
    Threads,
    check_machines,
    import_all,
    integer,
    json_text,
    load_populations,
    machines,
)

if TYPE_CHECKING:
    from adhere.simulation import SimulationResult


app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def simulate(
    population: Annotated[
        list[str],
        typer.Option(metavar="NAME|FILE", help="A built-in population, or a TOML, CSV or Parquet file. Repeatable."),
    ],
    policy: Annotated[list[str], typer.Option(metavar="TEXT", help="A policy, in quotes. Repeat for several.")],
    patients: Annotated[int, typer.Option(metavar="N", parser=integer, help="Patients in each trial.")] = 1000,
    runs: Annotated[int, typer.Option(metavar="R", parser=integer, help="How many trials to run.")] = 1000,
    seed: Seed = 0,
    reference: Annotated[
        str | None, typer.Option(metavar="TEXT", help="The policy to compare with.  [default: the first]")
    ] = None,
    json_file: JsonFile = None,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE", readable=False, help="Draw the surplus along the trial: .png, .svg or .pdf."),
    ] = None,
    save: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            readable=False,
            help="Keep everything, for SimulationResult.load; replaces an earlier result there.",
        ),
    ] = None,
    runs_to: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", readable=False, help="Write what each run came to, a row for each: .csv or .parquet."
        ),
    ] = None,
    chosen: Chosen = None,
    actual: Actual = None,
    reward: Reward = None,
    count: CountColumn = None,
    arms: ArmsInOrder = None,
    control: Control = None,
    lower_is_better: LowerIsBetter = False,
    imports: Imports = None,
    threads: Threads = None,
    device: Device = "cpu",
    cluster: Cluster = None,
) -> None:
    """Run every policy on every population and compare them.

    Put a policy with brackets or spaces in single quotes, or the shell misreads them:

    \b
      adhere simulate --population defiers --policy thompson --policy ucb1/actual
    \b
      adhere simulate --population stroke-aspirin --patients 10000 --plot it.png \\
        --policy thompson --policy 'hierarchical(thompson, top=exp3(gamma=0.1))'
    \b
      adhere simulate --population trial.csv --json - \\
        --policy 'thompson/credit[0 1; - 1]'
    \b
      adhere simulate --population defiers --import mine.py \\
        --policy 'mine(rate=0.2)' --reference thompson --policy thompson
    \b
      adhere simulate --population defiers --policy thompson --runs 1000000 \\
        --device cuda
    \b
      adhere simulate --population defiers --policy thompson --runs 1000000 \\
        --cluster tcp://127.0.0.1:8786

    See adhere policies and adhere populations for the names there are.
    """
    from adhere.compilation.storage import is_checked
    from adhere.policies import import_policies, parse_policy
    from adhere.policies.guards.floor import ControlWarning
    from adhere.simulation import simulate as run

    check_machines(threads, device, cluster)
    to_file = Path(json_file) if json_file not in (None, STANDARD_OUTPUT) else None
    import_all(imports)
    given = [parse_policy(text) for text in policy]
    columns = {"chosen": chosen, "actual": actual, "reward": reward, "count": count, "arms": arms, "control": control}
    table = {**columns, "lower_is_better": lower_is_better or None}
    answering = load_populations(population, table)
    _check_destinations(to_file, plot, save, runs_to, [*map(Path, population), *(imports or ())])
    with machines(threads, device, cluster) as where, warnings.catch_warnings():
        warnings.simplefilter("ignore", ControlWarning)  # the table says it
        result = run(
            given,
            answering,
            n_patients=patients,
            n_runs=runs,
            seed=seed,
            reference=reference,
            keep_runs=runs_to is not None,
            **where,
        )

    sources = list(dict.fromkeys(one.source for one in answering if one.source))
    text = json_text(result.to_json())
    # First what people see: a disk that fills up now must not cost them the results.
    typer.echo(text if json_file == STANDARD_OUTPUT else _table(result, sources), nl=False)
    contents = {} if to_file is None else {to_file: text.encode()}
    if plot is not None:
        from adhere.simulation.results.surplus_plot import plot_file

        contents[plot] = plot_file(result.plot([f"Data: {source}" for source in sources]), plot.suffix)
    if runs_to is not None:
        contents[runs_to] = table_file(result.runs.to_polars(), runs_to)
    write_files(contents, before=lambda: result.save(save) if save is not None else None)
    for file in imports or ():
        if not is_checked(import_policies(file).__name__):
            typer.echo(f"note: {file} has not passed its check yet: adhere policies --check {file}", err=True)


def _check_destinations(
    json_file: Path | None, plot: Path | None, save: Path | None, runs_to: Path | None, inputs: list[Path]
) -> None:
    """Find out before the work, not after it, that its results cannot be kept."""
    if json_file is not None:
        check_file("--json", json_file)
    if plot is not None:
        check_plot("--plot", plot)
    if runs_to is not None:
        check_table("--runs-to", runs_to)
    check_apart({"--json": json_file, "--plot": plot, "--runs-to": runs_to}, inputs)
    if save is not None:
        check_folder("--save", save)


def _table(result: SimulationResult, sources: list[str]) -> str:
    from adhere.report.text_table import paragraph

    width = shutil.get_terminal_size().columns
    parts = [result.summary(width), *(paragraph(f"data: {source}", width) for source in sources)]
    return "\n\n".join(parts) + "\n"
