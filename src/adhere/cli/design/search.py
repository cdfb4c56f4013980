"""`adhere design calibrate` and `adhere design size`: find a number of a design by simulation."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adhere.cli.design.options import (
    DesignFile,
    Scenarios,
    Trials,
    design_text,
    input_files,
    json_path,
    read_design,
    show,
)
from adhere.cli.destinations import check_apart, check_file, write_files
from adhere.cli.options import Cluster, Device, Imports, JsonFile, Seed, Threads, import_all, machines, number
from adhere.errors import InputError

if TYPE_CHECKING:
    from adhere.evaluation.search.calibration import Calibration
    from adhere.evaluation.search.confirmed_number import Tried
    from adhere.evaluation.search.sample_size import SampleSize

OutFile = Annotated[
    Path | None,
    typer.Option("--out", metavar="FILE", readable=False, help="Write the design found: .toml or .json."),
]


def calibrate(
    file: DesignFile,
    type_one: Annotated[
        float, typer.Option("--type-one", metavar="P", parser=number, help="The type I error.")
    ] = 0.05,
    number_name: Annotated[
        str | None,
        typer.Option(
            "--number",
            metavar="NAME",
            help="The number to find, as in FILE.  [default: stopping.alpha if FILE has it, or stopping.superiority]",
        ),
    ] = None,
    between: Annotated[
        tuple[float, float] | None,
        typer.Option(metavar="LOW HIGH", help="The range to search.  [default: all that makes sense]"),
    ] = None,
    scenarios: Scenarios = None,
    trials: Trials = 10_000,
    seed: Seed = 0,
    conservative: Annotated[
        bool, typer.Option("--conservative", help="Aim below P, so that fresh trials can show an error of at most P.")
    ] = False,
    out: OutFile = None,
    json_file: JsonFile = None,
    imports: Imports = None,
    threads: Threads = None,
    device: Device = "cpu",
    cluster: Cluster = None,
) -> None:
    """Find the threshold with which a design holds its type I error, whichever null is true and however many patients
    take what they are recommended.

    \b
      adhere design calibrate trial.toml --out calibrated.toml
      adhere design calibrate trial.toml --type-one 0.025 --trials 100000 --conservative
      adhere design calibrate trial.toml --number stopping.alpha
      adhere design calibrate trial.toml --number policy.share --between 0.05 0.3

    The type I error is the probability of claiming a difference about any arm where recommending one does as well as
    another. The search tries each value on the same simulated patients, so that values differ and patients do not.
    It aims at the error asked for under the worst null; nulls whose errors differ by chance alone count as one. The
    value found is tried on fresh patients, whose errors are printed with 95% intervals that hold for all nulls
    together. If they contradict the value, another gets one more try on other patients.

    With --conservative it aims so far below the error asked for that the upper limits should be below it, too: with
    more trials, it aims nearer. If they are not, a stricter value gets one more try; the 5% of doubt are shared
    between both, so that 95% hold.

    The exit status is 0 if the error is confirmed, 1 if it is not (--out is not written then), 2 if FILE or an option
    cannot be used.

    Any one number of the file will do: a threshold, a level, or policy.NAME for an option of the policy. With
    inferiority = "1 - superiority" both thresholds move together.
    """
    to_json = _check_destinations(json_file, out, input_files([file], scenarios, imports))
    import_all(imports)
    design = read_design(file)
    from adhere.evaluation.scenarios.scenarios import given_or_own
    from adhere.evaluation.search.calibration import calibrate as find

    with machines(threads, device, cluster) as where:
        found = find(
            design,
            type_one=type_one,
            number=number_name,
            between=between,
            scenarios=given_or_own(scenarios or None, file),
            n_trials=trials,
            seed=seed,
            conservative=conservative,
            on_tried=lambda tried: _say(tried, "worst type I error", max(tried.errors)),
            **where,
        )
    _write(found, file, to_json, json_file, out)


def size(
    file: DesignFile,
    power: Annotated[float, typer.Option(metavar="P", parser=number, help="The power, at least.")] = 0.9,
    scenario: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="In which scenario.  [default: the only one in which arms differ]"),
    ] = None,
    scenarios: Scenarios = None,
    trials: Trials = 10_000,
    seed: Seed = 0,
    out: OutFile = None,
    json_file: JsonFile = None,
    imports: Imports = None,
    threads: Threads = None,
    device: Device = "cpu",
    cluster: Cluster = None,
) -> None:
    """Find how many patients a design needs for a power: the probability of claiming a difference that is there, in
    the right direction.

    \b
      adhere design size trial.toml --power 0.9 --out larger.toml
      adhere design size trial.toml --power 0.8 --scenario 'effect 0.2, compliance 70%'

    Looks and burn-in keep their shares of the trial. The size found is confirmed on fresh patients. Thresholds stay
    as they are: a design that was calibrated at another size should be calibrated again at this one. A size that is
    not confirmed is followed by one larger, with the 5% of doubt shared between both.

    The exit status is 0 if the power is confirmed, 1 if it is not (--out is not written then), 2 if FILE or an option
    cannot be used.
    """
    to_json = _check_destinations(json_file, out, input_files([file], scenarios, imports))
    import_all(imports)
    design = read_design(file)
    from adhere.evaluation.scenarios.scenarios import given_or_own
    from adhere.evaluation.search.sample_size import sample_size

    with machines(threads, device, cluster) as where:
        found = sample_size(
            design,
            power=power,
            scenario=scenario,
            scenarios=given_or_own(scenarios or None, file),
            n_trials=trials,
            seed=seed,
            on_tried=lambda tried: _say(tried, "power", 1.0 - max(tried.errors)),
            **where,
        )
    _write(found, file, to_json, json_file, out)


def _say(tried: Tried, what: str, rate: float) -> None:
    typer.echo(f"{tried.number:>8.6g}: {what} {rate:.4f} in {tried.n_trials:,} trials", err=True)


def _check_destinations(json_file: str | None, out: Path | None, inputs: list[Path]) -> Path | None:
    """Find out before the work, not after it, that its results cannot be kept; where JSON goes."""
    to_json = json_path(json_file)
    if out is not None:
        if out.suffix.lower() not in (".toml", ".json"):
            raise InputError("--out", str(out), "a file ending in .toml or .json")
        check_file("--out", out)
    check_apart({"--json": to_json, "--out": out}, inputs)
    return to_json


def _write(
    found: Calibration | SampleSize, file: Path, to_json: Path | None, json_file: str | None, out: Path | None
) -> None:
    text = show(found, shutil.get_terminal_size().columns, json_file)
    contents = {} if to_json is None else {to_json: text.encode()}
    if out is not None and found.is_confirmed:
        contents[out] = design_text(found.design, file, out.suffix.lower()).encode()
    write_files(contents, before=lambda: None)
    if not found.is_confirmed:
        if out is not None:
            typer.echo(f"{out} is not written: not confirmed", err=True)
        raise typer.Exit(1)
