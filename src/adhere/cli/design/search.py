"""`adhere design calibrate` and `adhere design size`: find a number of a design by simulation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adhere.cli.design.options import DesignFile, Simulated, design_text
from adhere.cli.destinations import write_files
from adhere.cli.options import Machines, number_option, output_option, terminal_width, with_groups

if TYPE_CHECKING:
    from adhere.evaluation.search.calibration import Calibration
    from adhere.evaluation.search.confirmed_number import Tried
    from adhere.evaluation.search.sample_size import SampleSize

OutFile = Annotated[Path | None, output_option("Write the design found: .toml or .json.", "--out")]


@with_groups
def calibrate(
    *,
    file: DesignFile,
    type_one: Annotated[float, number_option("The type I error.", "--type-one")] = 0.05,
    number_name: Annotated[
        str | None,
        typer.Option(
            "--number",
            metavar="NAME",
            help="The number to find, named as in FILE.  "
            "[default: stopping.alpha if FILE has it, otherwise stopping.superiority]",
        ),
    ] = None,
    between: Annotated[
        tuple[float, float] | None,
        typer.Option(metavar="LOW HIGH", help="The range to search.  [default: all sensible values]"),
    ] = None,
    conservative: Annotated[
        bool, typer.Option("--conservative", help="Aim below P, so that fresh trials can confirm P.")
    ] = False,
    out: OutFile = None,
    simulated: Simulated,
    machines: Machines,
) -> None:
    """Find the threshold that keeps a design's type I error, under any null and with any compliance.

    \b
      adhere design calibrate trial.toml --out calibrated.toml
      adhere design calibrate trial.toml --type-one 0.025 --trials 100000 --conservative
      adhere design calibrate trial.toml --number stopping.alpha
      adhere design calibrate trial.toml --number policy.share --between 0.05 0.3

    The type I error is the probability of claiming a difference about any arm when recommending either arm does
    equally well. The search tries every value on the same simulated patients. It aims at the requested error under
    the worst null; nulls whose errors differ only by chance count as one. The value found is tried on fresh patients,
    whose errors are printed with 95% intervals that hold for all nulls together. If they contradict the value,
    another value gets one more try on other patients.

    With --conservative, the search aims below the requested error, so that the upper limits should be below it too.
    More trials allow it to aim closer. If the limits are not below it, a stricter value gets one more try. Both tries
    share the 5% of doubt, so that 95% hold.

    The exit status is 0 if the error is confirmed, 1 if it is not (--out is not written then), and 2 if FILE or an
    option cannot be used.

    Any number in the file can be searched for: a threshold, a level, or policy.NAME for an option of the policy. With
    inferiority = "1 - superiority" both thresholds move together.
    """
    from adhere.evaluation.search.calibration import calibrate as find

    def describe(errors: Sequence[float]) -> str:
        return f"worst type I error {max(errors):.4f}"

    own = {"type_one": type_one, "number": number_name, "between": between, "conservative": conservative}
    _search(find, own, describe, file, out, simulated, machines)


@with_groups
def size(
    *,
    file: DesignFile,
    power: Annotated[float, number_option("The power, at least.")] = 0.9,
    scenario: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The scenario.  [default: the only one in which arms differ]"),
    ] = None,
    out: OutFile = None,
    simulated: Simulated,
    machines: Machines,
) -> None:
    """Find how many patients a design needs for a power: the probability of claiming a true difference in the right
    direction.

    \b
      adhere design size trial.toml --power 0.9 --out larger.toml
      adhere design size trial.toml --power 0.8 --scenario 'effect 0.2, compliance 70%'

    Looks and burn-in keep their shares of the trial. The size found is confirmed on fresh patients. Thresholds do not
    change: if a design was calibrated at another size, calibrate it again at this one. If a size is not confirmed,
    one larger size is tried; both tries share the 5% of doubt.

    The exit status is 0 if the power is confirmed, 1 if it is not (--out is not written then), and 2 if FILE or an
    option cannot be used.
    """
    from adhere.evaluation.search.sample_size import sample_size

    def describe(errors: Sequence[float]) -> str:
        return f"power {1.0 - max(errors):.4f}"

    _search(sample_size, {"power": power, "scenario": scenario}, describe, file, out, simulated, machines)


def _search(
    find: Callable[..., Calibration | SampleSize],
    own: Mapping[str, Any],
    describe: Callable[[Sequence[float]], str],
    file: Path,
    out: Path | None,
    simulated: Simulated,
    machines: Machines,
) -> None:
    """Find a number with the function `find` and its `own` options. Print each number tried, then the result."""

    def print_tried(tried: Tried) -> None:
        typer.echo(f"{tried.number:>8.6g}: {describe(tried.errors)} in {tried.n_trials:,} trials", err=True)

    (design,) = simulated.read([file], {"--out": out})
    with machines.connected() as where:
        found = find(design, **own, **simulated.arguments(file), **where, on_tried=print_tried)
    contents = simulated.print_results(found, terminal_width())
    if out is not None and found.is_confirmed:
        contents[out] = design_text(found.design, file, out.suffix.lower()).encode()
    write_files(contents)
    if not found.is_confirmed:
        if out is not None:
            typer.echo(f"{out} is not written: not confirmed", err=True)
        raise typer.Exit(1)
