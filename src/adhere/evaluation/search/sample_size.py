"""Search for the number of patients that a design needs for a power, with confirmation by fresh trials."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from importlib.metadata import version
from itertools import pairwise
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import msgspec

from adhere.checks import check_integer, is_number
from adhere.design.design import Design
from adhere.design.design_file import DesignLike, load_design
from adhere.design.parts import Looks
from adhere.errors import InputError, listed, nearest
from adhere.evaluation.scenarios.scenario import Scenario
from adhere.evaluation.scenarios.scenarios import ScenariosLike, given_or_own, read_scenarios
from adhere.evaluation.search.calibration import MAX_TRIALS, MIN_TRIALS
from adhere.evaluation.search.confirmed_number import (
    LEVEL,
    ConfirmedNumber,
    Tried,
    confirmed_with,
    crossing,
    find_number,
)
from adhere.evaluation.search.error_rates import AT_LEAST, error_rates, rate_rows, rate_table
from adhere.evaluation.search.named_number import usual_number
from adhere.evaluation.search.search import ROOT, Range, UnreachableError
from adhere.intervals import Z95, Estimate
from adhere.policies import BurnIn, Policy, parse_policy
from adhere.policies.guards.guard import Guard
from adhere.randomness import check_seed
from adhere.report.numbers import counted
from adhere.report.text_table import paragraph
from adhere.simulation.execution.progress import Progress

if TYPE_CHECKING:
    import polars


def resized(design: Design, n_patients: int) -> Design:
    """Return a design with another number of patients, the same number of looks, and a proportional burn-in.

    Looks by day keep their position relative to the time of enrolment.

    >>> small = Design("a", "burn-in(thompson, patients=20)", ("x", "y"), n_patients=200, looks=Looks(at=(50, 100)))
    >>> large = resized(small, 300)
    >>> large.n_patients, large.looks.at, large.policy
    (300, (75, 150), 'burn-in(thompson, patients=30)')
    """
    if design.n_patients is None:
        raise InputError("n_patients", None, "a number of patients to begin with")
    if design.enrolment.days:
        sentence = "enrolment.days: a design with a day for each patient has no other size; give per_day instead"
        raise InputError("enrolment.days", design.enrolment.days, "per_day", sentence)
    factor = n_patients / design.n_patients
    looks = Looks(
        at=tuple(round(factor * number) for number in design.looks.at),
        every=None if design.looks.every is None else _at_least_one(factor * design.looks.every),
        days=tuple(factor * day for day in design.looks.days),
    )
    policy = str(_scaled(parse_policy(design.policy), factor))
    return msgspec.structs.replace(design, n_patients=n_patients, looks=looks, policy=policy)


def smallest_size(design: Design) -> int:
    """Return the smallest number of patients with which a resized design still has all its looks."""
    counts = [0, *design.looks.at, design.n_patients or 0]
    steps = [later - earlier for earlier, later in pairwise(counts) if later > earlier]
    if design.looks.every is not None:
        steps.append(design.looks.every)
    return max(10 * len(design.arms), -(-2 * (design.n_patients or 0) // min(steps)))


def _scaled(policy: Policy, factor: float) -> Policy:
    """Return a policy with its burn-in, if any, multiplied by a factor."""
    if not isinstance(policy, Guard):
        return policy
    inner = _scaled(policy.inner, factor)
    if isinstance(policy, BurnIn):
        return dataclasses.replace(policy, inner=inner, patients=_at_least_one(factor * policy.patients))
    return dataclasses.replace(policy, inner=inner)


def _at_least_one(number: float) -> int:
    return max(1, round(number))


MAX_PATIENTS = 1_000_000
_TIMES_LARGER = 50  # maximum size relative to the given design
_SMALLEST_Z = 0.1  # for sizes with hardly any right claims


@dataclass(frozen=True)
class SampleSize:
    """Number of patients with which a design has a given power.

    Call `sample_size` to make one.

    Parameters
    ----------
    design : Design
        Design with this number of patients. Its looks and its burn-in keep their shares of the trial.
    power : float
        Power that was asked for.
    scenario : Scenario
        Scenario in which the design has the power.
    confirmation : ConfirmedNumber
        Number found, the share of fresh trials without the right claim, and all numbers that were tried.
    n_trials : int
        Number of trials.
    seed : int
        Seed of the search.
    version : str
        Version of adhere.

    See Also
    --------
    sample_size : Find the number of patients.
    Calibration : A design with a calibrated type I error.

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
    >>> found = adhere.sample_size(design, power=0.8, scenarios={"effect": 0.3}, n_trials=500, progress=False)
    >>> 50 < found.n_patients < 200
    True

    """

    design: Design
    power: float
    scenario: Scenario
    confirmation: ConfirmedNumber
    n_trials: int
    seed: int
    version: str

    @property
    def n_patients(self) -> int:
        """The number of patients found."""
        return round(self.confirmation.number)

    @property
    def n_patients_estimated(self) -> int:
        """Estimated number of patients for the requested power, from all sizes tried; fewer than can be confirmed.

        Where the sizes tried are all on one side of it, the fresh trials say it by a z-test's power at the 5% level.
        """
        found = crossing(self.confirmation.tried, 1.0 - self.power, ROOT)
        return math.ceil(self._by_z_test() if found is None else found)

    def _by_z_test(self) -> float:
        """Return the size for the requested power, extrapolated from one size: √n grows like Z95 + probit(power)."""
        last = self.confirmation.tried[-1]
        rate = min(max(last.errors[0], 0.5 / last.n_trials), 1.0 - 0.5 / last.n_trials)
        wanted, found = (Z95 - NormalDist().inv_cdf(one) for one in (1.0 - self.power, rate))
        return last.number * (wanted / max(found, _SMALLEST_Z)) ** 2

    @property
    def power_found(self) -> Estimate:
        """The power with `n_patients` patients in fresh trials, with a lower limit at 95% confidence."""
        return _complement(self.confirmation.errors[0])

    @property
    def is_confirmed(self) -> bool:
        """Whether fresh trials show, with 95% confidence, that the design has at least the power asked for."""
        return self.confirmation.is_confirmed

    @property
    def how_sure(self) -> str:
        """A sentence on the power that fresh trials found."""
        found, trials = self.power_found, f"{self.n_trials:,} fresh trials"
        said = f"with {LEVEL:.0%} confidence the power is at least {found.low:.4f} ({trials})."
        return self.confirmation.in_words(said, f"at least {self.power:g}")

    @property
    def how_near(self) -> str:
        """A sentence on the estimated number of patients for the requested power."""
        about = self.n_patients_estimated
        said = f"About {about:,} patients have a power of {self.power:g}, as estimated from all sizes tried"
        if about >= self.n_patients:
            return f"{said}."
        return (
            f"{said}; {self.n_patients:,} are as many as {self.n_trials:,} trials take to confirm it, and more "
            "trials take fewer."
        )

    def summary(self, width: int = 80) -> str:
        """The number of patients found, the power with this number, and how sure the power is."""
        last = self.confirmation.tried[-1]
        searched = len({one.number for one in self.confirmation.tried})
        repeat = (
            f"{counted(searched, 'size')} tried with seed {self.seed}, in up to {counted(self.n_trials, 'trial')}"
            f" each; {confirmed_with(self.seed, last.seed, conservative=True)}. Looks and burn-in kept their shares"
            " of the trial, thresholds stayed as they are: calibrate the larger design again if it does not hold"
            " its error by construction."
        )
        parts = [
            f"n_patients = {self.n_patients}",
            rate_table("power", AT_LEAST, [self.scenario], [self.power_found], width),
            paragraph(self.how_sure, width),
            paragraph(self.how_near, width),
            paragraph(repeat, width),
        ]
        return "\n\n".join(parts)

    def to_polars(self) -> polars.DataFrame:
        """A row for each size that was tried: number of patients, trials, seed, share of trials without the claim."""
        return rate_rows([self.scenario], self.confirmation.tried, "n_patients", "type_two")

    def to_json(self) -> dict[str, Any]:
        """Everything as plain data. Seeds are strings, because some JSON readers round large integers."""
        return {
            "n_patients": self.n_patients,
            "n_patients_estimated": self.n_patients_estimated,
            "power": self.power,
            "power_found": vars(self.power_found),
            "confirmed": self.is_confirmed,
            "how_sure": self.how_sure,
            "scenario": self.scenario.name,
            "tried": [one._asdict() | {"seed": str(one.seed)} for one in self.confirmation.tried],
            "n_trials": self.n_trials,
            "seed": str(self.seed),
            "version": self.version,
            "design_digest": self.design.digest,
        }

    def __repr__(self) -> str:
        sure = "confirmed" if self.is_confirmed else "not confirmed"
        return f"SampleSize(n_patients = {self.n_patients}, power {self.power_found}, {sure})"


def sample_size(
    design: DesignLike,
    *,
    power: float = 0.9,
    scenario: str | None = None,
    scenarios: ScenariosLike | None = None,
    n_trials: int = 10_000,
    seed: int = 0,
    n_threads: int | None = None,
    device: str = "cpu",
    executor: Executor | None = None,
    progress: Progress | bool | None = None,
    on_tried: Callable[[Tried], None] | None = None,
) -> SampleSize:
    """Find how many patients a design needs for a power.

    Looks and burn-in keep their shares of the trial, and thresholds and delays stay as they are. The search simulates
    the same patients each time, and fresh trials confirm the size found. It aims above `power`, so that the lower 95%
    limit of the power is above it too. If fresh trials do not confirm the size, a larger one is tried; both attempts
    share the 5% error.

    Parameters
    ----------
    design : Design, path or mapping
        Design to resize, or its file, with any number of patients. The search ends at 50 times this number, and at a
        million patients.
    power : float, default 0.9
        Probability of claiming a difference that exists, in the right direction, about any arm.
    scenario : str, optional
        Name of the scenario in which the design needs the power. It may be left out if only one scenario has an
        effect.
    scenarios : scenarios, optional
        Scenarios as in `evaluate`.
    n_trials : int, default 10000
        Number of trials at the end of the search, and of the fresh trials that confirm it.
    seed : int, default 0
        Seed of the search. The fresh trials have the next seed.
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
        Function that is called with each size that was tried.

    Returns
    -------
    SampleSize
        Resized design, and the evidence for it.

    See Also
    --------
    calibrate : Find the threshold with which a design has a given type I error.
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
    >>> found = adhere.sample_size(design, power=0.8, scenarios={"effect": 0.3}, n_trials=500, progress=False)
    >>> found.design.n_patients == found.n_patients
    True

    """
    if not is_number(power) or not 0.5 <= power < 1.0:
        raise InputError("power", power, "a number from 0.5 and below 1")
    scenarios, design = given_or_own(scenarios, design), load_design(design)
    n_trials = check_integer("n_trials", n_trials, MIN_TRIALS, MAX_TRIALS)
    seed = check_seed(seed)
    usual_number(design)  # refuses a design that makes no claims
    wanted = _wanted(design, scenario, scenarios)
    resized(design, design.n_patients or 1)  # refuses designs without a size, or with days of patients
    start = design.n_patients or 1
    machines = {"n_threads": n_threads, "device": device, "executor": executor, "progress": progress}
    within = Range(smallest_size(design), min(_TIMES_LARGER * start, MAX_PATIENTS), ROOT, 0, strict="high")

    def errors(size: float, n: int, with_seed: int) -> tuple[float, ...]:
        return error_rates(resized(design, round(size)), [wanted], "type II", n, with_seed, **machines)

    try:
        confirmed = find_number(errors, 1, 1.0 - power, within, start, n_trials, seed, on_tried, conservative=True)
    except UnreachableError as error:
        size = within.high if error.is_above else within.low
        compared = f"stays below {power:g} up to" if error.is_above else f"is above {power:g} already with"
        limit = f", {_TIMES_LARGER} times the design's {start:,}," if error.is_above and size < MAX_PATIENTS else ""
        further = "; begin with a larger n_patients to search further" if limit else ""
        sentence = f"power {compared} {size:,.0f} patients{limit} in scenario {wanted.name!r}{further}"
        raise InputError("power", power, "a power that can be reached", sentence) from None
    found = resized(design, round(confirmed.number))
    return SampleSize(found, power, wanted, confirmed, n_trials, seed, version("adhere"))


def _wanted(design: Design, name: str | None, scenarios: object) -> Scenario:
    """Return the scenario with this name or, without a name, the only scenario in which arms differ."""
    different = [one for one in read_scenarios(scenarios, design) if one.null is None]
    names = [one.name for one in different]
    if not different:
        raise InputError("scenarios", scenarios, "a scenario in which arms differ", "scenarios: all are nulls")
    if name is None and len(different) > 1:
        sentence = f"several scenarios have a difference; choose one with scenario (--scenario): {listed(names)}"
        raise InputError("scenario", None, "the name of one", sentence)
    if name is not None and name not in names:
        raise InputError("scenario", name, nearest(str(name), names))
    return different[0 if name is None else names.index(name)]


def _complement(rate: Estimate) -> Estimate:
    assert rate.low is not None
    assert rate.high is not None
    return Estimate(1.0 - rate.mean, rate.se, 1.0 - rate.high, 1.0 - rate.low)
