"""`adhere simulate`: compare policies on populations."""

import warnings
from pathlib import Path
from typing import Annotated

import typer

from adhere.cli.destinations import check_folder, check_outputs, print_results, table_file, write_files
from adhere.cli.options import (
    Imports,
    JsonFile,
    Machines,
    Seed,
    TableColumns,
    import_all,
    integer_option,
    json_text,
    load_populations,
    output_option,
    terminal_width,
    with_groups,
)


@with_groups
def simulate(
    *,
    population: Annotated[
        list[str],
        typer.Option(metavar="NAME|FILE", help="A built-in population, or a TOML, CSV or Parquet file. Repeatable."),
    ],
    policy: Annotated[list[str], typer.Option(metavar="TEXT", help="A policy, in quotes. Repeat for several.")],
    patients: Annotated[int, integer_option("Patients in each trial.")] = 1000,
    runs: Annotated[int, integer_option("Number of trials to simulate.", "R")] = 1000,
    seed: Seed = 0,
    reference: Annotated[
        str | None, typer.Option(metavar="TEXT", help="The policy to compare with.  [default: the first]")
    ] = None,
    json_file: JsonFile = None,
    plot: Annotated[Path | None, output_option("Draw the surplus along the trial: .png, .svg or .pdf.")] = None,
    save: Annotated[
        Path | None,
        output_option(
            "Save the complete result, for SimulationResult.load; replaces an earlier one.",
            metavar="FOLDER",
        ),
    ] = None,
    runs_to: Annotated[Path | None, output_option("Write one row per run with its result: .csv or .parquet.")] = None,
    columns: TableColumns,
    imports: Imports = None,
    machines: Machines,
) -> None:
    """Run every policy on every population and compare them.

    Put a policy with brackets or spaces in single quotes; otherwise the shell misreads it:

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

    The commands adhere policies and adhere populations list the names.
    """
    from adhere.compilation.storage import is_checked
    from adhere.policies import import_policies, parse_policy
    from adhere.policies.guards.floor import ControlWarning
    from adhere.report.text_table import paragraph
    from adhere.simulation import simulate as run

    machines.check()
    import_all(imports)
    policies = [parse_policy(text) for text in policy]
    populations = load_populations(population, columns.given())
    outputs = {"--json": json_file, "--plot": plot, "--runs-to": runs_to}
    check_outputs(outputs, [*map(Path, population), *(imports or ())])
    if save is not None:
        check_folder("--save", save)
    with machines.connected() as where, warnings.catch_warnings():
        warnings.simplefilter("ignore", ControlWarning)  # the table shows it
        result = run(
            policies,
            populations,
            n_patients=patients,
            n_runs=runs,
            seed=seed,
            reference=reference,
            keep_runs=runs_to is not None,
            **where,
        )

    sources = list(dict.fromkeys(one.source for one in populations if one.source))
    width = terminal_width()
    parts = [result.summary(width), *(paragraph(f"data: {source}", width) for source in sources)]
    contents = print_results("\n\n".join(parts) + "\n", json_text(result.to_json()), json_file)
    if plot is not None:
        from adhere.simulation.results.surplus_plot import plot_file

        contents[plot] = plot_file(result.plot([f"Data: {source}" for source in sources]), plot.suffix)
    if runs_to is not None:
        contents[runs_to] = table_file(result.runs.to_polars(), runs_to)
    write_files(contents, before=lambda: result.save(save) if save is not None else None)
    for file in imports or ():
        if not is_checked(import_policies(file).__name__):
            typer.echo(f"note: {file} has not passed its check yet: adhere policies --check {file}", err=True)
