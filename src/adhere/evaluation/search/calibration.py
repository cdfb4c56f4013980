"""Calibration: search for the parameter with which a design has a given type I error under the worst null."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from importlib.metadata import version
from statistics import fmean
from typing import TYPE_CHECKING, Any

from adhere.checks import check_integer, is_number
from adhere.design.design import Design
from adhere.design.design_file import DesignLike, load_design
from adhere.errors import InputError
from adhere.evaluation.scenarios.scenario import Scenario
from adhere.evaluation.scenarios.scenario_grid import USUAL_NULLS
from adhere.evaluation.scenarios.scenarios import (
    ScenariosLike,
    given_or_own,
    note_on_default,
    note_on_nulls,
    read_scenarios,
)
from adhere.evaluation.search.confirmed_number import LEVEL, ConfirmedNumber, Tried, aim, confirmed_with, find_number
from adhere.evaluation.search.error_rates import AT_MOST, INTERVAL, error_rates, rate_rows, rate_table
from adhere.evaluation.search.named_number import number_of, range_to_search, usual_number, with_number
from adhere.evaluation.search.search import Range, UnreachableError
from adhere.intervals import Estimate
from adhere.randomness import check_seed
from adhere.report.numbers import counted
from adhere.report.text_table import paragraph
from adhere.simulation.execution.progress import Progress

if TYPE_CHECKING:
    import polars

_TIMES_MORE = 10  # factor for the number of trials in the advice


@dataclass(frozen=True)
class Calibration:
    """Design with a calibrated type I error.

    Call `calibrate` to make one.

    Parameters
    ----------
    design : Design
        Calibrated design.
    number : str
        Name of the number that was searched for, such as ``"stopping.superiority"``.
    type_one : float
        Type I error that was asked for.
    nulls : tuple of Scenario
        Scenarios under which the error was counted.
    confirmation : ConfirmedNumber
        Value found, its error under each null hypothesis in fresh trials, and all values that were tried.
    n_trials : int
        Number of trials of each null hypothesis.
    seed : int
        Seed of the search.
    version : str
        Version of adhere.
    notes : tuple of str, default ()
        Remarks about the search.

    See Also
    --------
    calibrate : Calibrate a design.
    SampleSize : A design with enough patients for a power.

    Examples
    --------
    >>> import adhere
    >>> design = '''
    ... name = "headache"
    ... policy = "uniform"
    ... arms = ["walk", "aspirin"]
    ... n_patients = 100
    ... stopping = { by = "posterior", superiority = 0.975, inferiority = "1 - superiority" }
    ... '''
    >>> found = adhere.calibrate(design, scenarios={"compliance": 0.8}, n_trials=500, progress=False)
    >>> found.number, 0.9 < found.value < 1
    ('stopping.superiority', True)
    >>> found.design.stopping.superiority == found.value
    True

    """

    design: Design
    number: str
    type_one: float
    nulls: tuple[Scenario, ...]
    confirmation: ConfirmedNumber
    n_trials: int
    seed: int
    version: str
    notes: tuple[str, ...] = ()

    @property
    def value(self) -> float:
        """The parameter value found."""
        return self.confirmation.number

    @property
    def worst_null(self) -> Scenario:
        """The null under which the error is highest in fresh trials."""
        return self.nulls[self.confirmation.worst]

    @property
    def error(self) -> Estimate:
        """The type I error under the worst null. With 95% confidence, the intervals of all nulls contain the truth.

        In a conservative calibration, this confidence applies to the upper limits.
        """
        return self.confirmation.errors[self.confirmation.worst]

    @property
    def average_error(self) -> float:
        """The mean type I error over all nulls. Unlike `error`, it is not biased by picking the worst null."""
        return fmean(error.mean for error in self.confirmation.errors)

    @property
    def conservative(self) -> bool:
        """Whether fresh trials had to show that the error is at most `type_one`."""
        return self.confirmation.conservative

    @property
    def is_confirmed(self) -> bool:
        """Whether fresh trials confirm the value: they do not show, with 95% confidence, an error above `type_one`.

        In a conservative calibration: whether they show that the error is at most `type_one` under every null.
        """
        return self.confirmation.is_confirmed

    @property
    def how_sure(self) -> str:
        """Sentences on the error that fresh trials found."""
        return self._limit if self.conservative else self._interval

    @property
    def _interval(self) -> str:
        found = f"err in {self.error.mean:.2%} [{self.error.low:.2%}, {self.error.high:.2%}]"
        if len(self.nulls) == 1:
            said = f"Under this null {self.n_trials:,} fresh trials {found}."
        else:
            said = (
                f"Under the worst of these {len(self.nulls)} nulls {self.n_trials:,} fresh trials {found}; on "
                f"average over all nulls {self.average_error:.2%}. The intervals of all nulls hold together with "
                f"{LEVEL:.0%} confidence."
            )
        doubt = f" That is above {self.type_one:.4g}: not confirmed. More trials can tell better."
        return said + ("" if self.is_confirmed else doubt)

    @property
    def _limit(self) -> str:
        limit, trials = self.confirmation.upper_limit, f"{self.n_trials:,} fresh trials"
        several = f"under every one of these {len(self.nulls)} nulls ({trials} of each)"
        under = f"under this null ({trials})" if len(self.nulls) == 1 else several
        said = f"with {LEVEL:.0%} confidence the type I error is at most {limit:.4f} {under}."
        return self.confirmation.in_words(said, f"at most {self.type_one:g}")

    @property
    def how_near(self) -> str:
        """Sentences on the error that the search aimed at, and on the reason for it."""
        if not self.conservative:
            return (
                f"The search aimed at {self.type_one:g} itself, so the true error may be a little above it or below "
                f"it; with --conservative (conservative=True) fresh trials must show that it is at most "
                f"{self.type_one:g}."
            )
        averaged = "" if len(self.nulls) == 1 else f", on average over all nulls {self.average_error:.4f}"
        more = _TIMES_MORE * self.n_trials
        aimed, nearer = (aim(self.type_one, len(self.nulls), n) for n in (self.n_trials, more))
        return (
            f"The worst estimate is {self.error.mean:.4f}{averaged}. The search aimed at {aimed:.4f}, so far below "
            f"{self.type_one:g} that this can be confirmed; {more:,} trials of each would aim at {nearer:.4f}."
        )

    def summary(self, width: int = 80) -> str:
        """The parameter value found, the error under each null, and how sure these errors are."""
        last = self.confirmation.tried[-1]
        searched = len({one.number for one in self.confirmation.tried})
        repeat = (
            f"{counted(searched, 'value')} tried with seed {self.seed}, in up to {counted(self.n_trials, 'trial')} of"
            f" each null, the same patients each time; {confirmed_with(self.seed, last.seed, self.conservative)}."
        )
        parts = [
            *(paragraph(f"note: {one}", width) for one in self.notes),
            f"{self.number} = {self.value:.6g}",
            rate_table(
                "type I error",
                AT_MOST if self.conservative else INTERVAL,
                self.nulls,
                self.confirmation.errors,
                width,
            ),
            paragraph(self.how_sure, width),
            paragraph(self.how_near, width),
            paragraph(repeat, width),
        ]
        return "\n\n".join(parts)

    def to_polars(self) -> polars.DataFrame:
        """A row for each value that was tried and each null: number, trials, seed, error."""
        return rate_rows(self.nulls, self.confirmation.tried, self.number, "type_one")

    def to_json(self) -> dict[str, Any]:
        """Everything as plain data. Seeds are strings, because some JSON readers round large integers."""
        return {
            "number": self.number,
            "value": self.value,
            "type_one": self.type_one,
            "conservative": self.conservative,
            "confirmed": self.is_confirmed,
            "how_sure": self.how_sure,
            "average_error": self.average_error,
            "worst_null": self.worst_null.name,
            "error": vars(self.error),
            "nulls": {one.name: vars(error) for one, error in zip(self.nulls, self.confirmation.errors, strict=True)},
            "tried": [one._asdict() | {"seed": str(one.seed)} for one in self.confirmation.tried],
            "n_trials": self.n_trials,
            "seed": str(self.seed),
            "version": self.version,
            "design_digest": self.design.digest,
            "notes": list(self.notes),
        }

    def __repr__(self) -> str:
        sure = "confirmed" if self.is_confirmed else "not confirmed"
        return f"Calibration({self.number} = {self.value:.6g}, type I error {self.error}, {sure})"


MIN_TRIALS, MAX_TRIALS = 200, 2**40


def calibrate(
    design: DesignLike,
    *,
    type_one: float = 0.05,
    number: str | None = None,
    between: tuple[float, float] | None = None,
    scenarios: ScenariosLike | None = None,
    n_trials: int = 10_000,
    seed: int = 0,
    conservative: bool = False,
    n_threads: int | None = None,
    device: str = "cpu",
    executor: Executor | None = None,
    progress: Progress | bool | None = None,
    on_tried: Callable[[Tried], None] | None = None,
) -> Calibration:
    """Find the parameter value with which a design has a given type I error under the worst null hypothesis.

    The search simulates all values on the same patients. The value found is confirmed on fresh trials, and the error
    there is reported with exact 95% intervals (Clopper–Pearson) that hold for all null hypotheses together. If the
    intervals contradict the value, one more value is tried on other fresh trials. Null hypotheses whose errors differ
    only by chance count as one, so a long list of them does not make the value stricter.

    Parameters
    ----------
    design : Design, path or mapping
        Design to calibrate, or its file.
    type_one : float, default 0.05
        Probability of claiming a difference about any arm if there is none.
    number : str, optional
        Name of the number to search for, as in the file of the design: ``"stopping.superiority"``,
        ``"stopping.alpha"``, ``"policy.share"`` and others. The default is the significance level if the design has
        one (with a boundary, or by ``"wealth"``), and otherwise the threshold for superiority. An inferiority of ``"1
        - superiority"`` moves along.
    between : tuple of float, optional
        Lowest and highest value to search. Numbers that are not thresholds need it.
    scenarios : scenarios, optional
        Scenarios as in `evaluate`, of which the null hypotheses count. The default is those of the design's file or,
        if it has none, a grid of compliance.
    n_trials : int, default 10000
        Number of trials of each null hypothesis at the end of the search, and of the fresh trials that confirm it.
    seed : int, default 0
        Seed of the search. The fresh trials have the next seed.
    conservative : bool, default False
        Whether to aim below `type_one`, so that the upper 95% limit under the worst null hypothesis is below it too.
        If fresh trials do not confirm the value, a stricter one is tried; both attempts share the 5% error.
    n_threads : int, optional
        Number of threads. The default is one for every processor.
    device : {"cpu", "cuda"}, default "cpu"
        Device that runs the trials. ``"cuda"`` needs the extra ``gpu``.
    executor : concurrent.futures.Executor, optional
        Executor that runs the trials in place of threads, such as the ``client.get_executor()`` of a Dask cluster.
        Its workers need the same version of adhere. It is not shut down.
    progress : bool or Progress, optional
        Whether to show a progress bar, or an object that is told the progress. By default, a bar is shown on a
        terminal and in a notebook.
    on_tried : callable, optional
        Function that is called with each value that was tried.

    Returns
    -------
    Calibration
        Calibrated design, and the evidence for it.

    See Also
    --------
    sample_size : Find the number of patients with which a design has a given power.
    evaluate : Estimate all operating characteristics of a design.

    Examples
    --------
    >>> import adhere
    >>> design = '''
    ... name = "headache"
    ... policy = "uniform"
    ... arms = ["walk", "aspirin"]
    ... n_patients = 100
    ... stopping = { by = "posterior", superiority = 0.975, inferiority = "1 - superiority" }
    ... '''
    >>> found = adhere.calibrate(design, scenarios={"compliance": 0.8}, n_trials=500, progress=False)
    >>> found.is_confirmed
    True

    """
    if not is_number(type_one) or not 0.0 < type_one < 0.5:
        raise InputError("type_one", type_one, "a number above 0 and below 0.5")
    scenarios, design = given_or_own(scenarios, design), load_design(design)
    n_trials = check_integer("n_trials", n_trials, MIN_TRIALS, MAX_TRIALS)
    seed = check_seed(seed)
    name = usual_number(design) if number is None else number
    within = range_to_search(design, name, between)
    nulls = _nulls(design, scenarios)
    machines = {"n_threads": n_threads, "device": device, "executor": executor, "progress": progress}

    def errors(value: float, n: int, with_seed: int) -> tuple[float, ...]:
        return error_rates(with_number(design, name, value), nulls, "type I", n, with_seed, **machines)

    present = number_of(design, name)
    start = present if present is not None and within.low <= present <= within.high else None
    try:
        confirmed = find_number(
            errors, len(nulls), type_one, within, start, n_trials, seed, on_tried, conservative=conservative
        )
    except UnreachableError as error:
        raise _unreachable(name, within, type_one, error) from None
    found = with_number(design, name, confirmed.number)
    notes = (*note_on_default(scenarios, USUAL_NULLS), *note_on_nulls(nulls))
    return Calibration(found, name, type_one, nulls, confirmed, n_trials, seed, version("adhere"), notes)


def _nulls(design: Design, scenarios: object) -> tuple[Scenario, ...]:
    given = USUAL_NULLS if scenarios is None else scenarios
    nulls = tuple(one for one in read_scenarios(given, design) if one.null is not None)
    if not nulls:
        expected = "at least one scenario in which recommending any arm does as well (a null)"
        raise InputError("scenarios", scenarios, expected, f"scenarios: expected {expected}; none of these is")
    return nulls


def _unreachable(name: str, within: Range, type_one: float, error: UnreachableError) -> InputError:
    values = f"{within.low:g} to {within.high:g}"
    if error.is_above:
        why = f"the error stays above {type_one:g}: something else in the design claims differences too"
    else:
        why = f"the error stays below {type_one:g}: every one of these values holds it"
    return InputError(name, values, "a value that brings the error to its level", f"{name}: from {values} {why}")
