"""Find the number of a design that holds its type I error under the worst null, and confirm it on fresh trials."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from importlib.metadata import version

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
from adhere.evaluation.search.calibration import Calibration
from adhere.evaluation.search.confirmed_number import Tried, settle
from adhere.evaluation.search.error_rates import ErrorRates
from adhere.evaluation.search.named_number import number_of, with_number
from adhere.evaluation.search.search import Range, UnreachableError
from adhere.evaluation.search.searched_number import range_to_search, usual_number
from adhere.randomness import check_seed
from adhere.simulation.execution.progress import Progress

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
    """Find the number of a design with which its type I error is a given one under the worst null.

    The search tries all values on the same patients. The value found is tried on fresh ones, and the error there is
    reported with exact 95% intervals (Clopper–Pearson) that hold for all nulls together. If they contradict the
    value, one more is tried on others. Nulls whose errors differ by chance alone count as one, so that many nulls
    do not make a value stricter.

    Parameters
    ----------
    design
        The design to calibrate, or its file.
    type_one
        The probability of claiming a difference about any arm where there is none.
    number
        Which number of the design to search for, as in its file: "stopping.superiority", "stopping.alpha",
        "policy.share", …. Left out, it is the level where the design has one (a boundary, or by "wealth"), else the
        threshold for superiority. An inferiority of "1 - superiority" moves along.
    between
        The lowest and the highest value to search; needed for numbers that are no thresholds.
    scenarios
        As for `evaluate`; those in which a null hypothesis holds count. Left out, those of the design's file or, if
        it has none, a grid of compliance.
    n_trials
        How many trials of each null the search ends with, and how many fresh ones confirm the value.
    seed
        Of the search; the trials that confirm have the next one.
    conservative
        Aim so far below `type_one` that the upper 95% limit of the worst null should stay below it too. If fresh
        trials do not confirm such a value, others try a stricter one; both tries share the 5% of doubt.
    n_threads, device, executor, progress
        As for `evaluate`.
    on_tried
        Called with each value that was tried.

    """
    if not is_number(type_one) or not 0.0 < type_one < 0.5:
        raise InputError("type_one", type_one, "a number above 0 and below 0.5")
    scenarios, design = given_or_own(scenarios, design), load_design(design)
    n_trials = check_integer("n_trials", n_trials, MIN_TRIALS, MAX_TRIALS)
    seed = check_seed(seed)
    name = usual_number(design) if number is None else number
    within = range_to_search(design, name, between)
    nulls = _nulls(design, scenarios)
    rates = ErrorRates("type I", nulls, n_threads, device, executor, progress)

    def errors(value: float, n: int, with_seed: int) -> tuple[float, ...]:
        return rates(with_number(design, name, value), n, with_seed)

    present = number_of(design, name)
    start = present if present is not None and within.low <= present <= within.high else None
    try:
        settled = settle(
            errors, len(nulls), type_one, within, start, n_trials, seed, on_tried, conservative=conservative
        )
    except UnreachableError as error:
        raise _unreachable(name, within, type_one, error) from None
    found = with_number(design, name, settled.number)
    notes = (*note_on_default(scenarios, USUAL_NULLS), *note_on_nulls(nulls))
    return Calibration(found, name, type_one, nulls, settled, n_trials, seed, version("adhere"), notes)


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
