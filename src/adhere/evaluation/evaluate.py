"""Evaluation of designs by simulating many trials of each in every scenario."""

from collections.abc import Sequence
from concurrent.futures import Executor
from importlib.metadata import version
from typing import Any

from adhere.checks import check_integer
from adhere.design.checks import check
from adhere.design.design import Design
from adhere.design.design_file import DesignLike, load_design
from adhere.design.stopping_checks import why_not_exact
from adhere.errors import InputError
from adhere.evaluation.characteristics.characteristics import Characteristics
from adhere.evaluation.evaluation import Evaluation
from adhere.evaluation.evaluation_plan import EvaluationPlan, EvaluationRunner
from adhere.evaluation.kept_trials import KeptTrials
from adhere.evaluation.outcomes import TrialOutcomes
from adhere.evaluation.scenarios.scenarios import (
    ScenariosLike,
    given_or_own,
    note_on_default,
    note_on_nulls,
    note_on_outcomes,
    read_scenarios,
    usual_grid,
)
from adhere.looks.judge import GO_ON
from adhere.randomness import check_seed
from adhere.simulation.execution.backend import run_plan
from adhere.simulation.execution.plan import memory_note
from adhere.simulation.execution.progress import Progress
from adhere.simulation.execution.workers import backend_of, check_workers


def notes_on(results: Sequence[Characteristics]) -> tuple[str, ...]:
    """Return notes on one design: warnings of its check, useless looks, and estimates left out."""
    design = results[0].design
    warnings = check(design)
    if not any(one.startswith("stopping") for one in warnings):  # which gives the reason
        warnings += _looks_in_vain(results)
    if design.estimands and (reason := why_not_exact(design)):
        warnings += (f"any-time valid estimates are left out: {reason}",)
    return tuple(f"{design.name}: {one}" for one in warnings)


def _looks_in_vain(results: Sequence[Characteristics]) -> tuple[str, ...]:
    """Warn if all trials stopped at the first look, or if no trial stopped before the last look."""
    n_before = results[0].columns.n_looks - 1
    if not n_before:
        return ()
    shares = [
        [one.moments.mean[one.columns.where("stopped", look, GO_ON)] for look in (0, n_before - 1)] for one in results
    ]
    if all(first == 0.0 for first, _ in shares):
        return ("every trial stopped at its first look, in every scenario",)
    if all(last == 1.0 for _, last in shares):
        return ("no trial stopped before its end, in any scenario",)
    return ()


def evaluate(
    designs: DesignLike | Sequence[DesignLike],
    scenarios: ScenariosLike | None = None,
    n_trials: int = 10_000,
    seed: int = 0,
    *,
    n_threads: int | None = None,
    device: str = "cpu",
    executor: Executor | None = None,
    progress: Progress | bool | None = None,
    keep_trials: bool = False,
) -> Evaluation:
    """Simulate `n_trials` trials of every design in every scenario, and estimate how the designs behave.

    Trial r of every design meets the same patients, so differences from the first design have paired standard errors.
    The same seed gives the same numbers to the last bit, on any machine and with any number of workers.

    Parameters
    ----------
    designs : Design, path, mapping, or a sequence of these
        One or several designs, their files (``.toml``, ``.json``), or the contents of such files. The first design is
        the reference for the others.
    scenarios : scenario, population, path, mapping, or an iterable of these, optional
        Populations that the trials meet: populations, their names or files, or a grid of effects, compliance and
        confounding. The default is the grid in the file of the first design, or a default grid, which `notes`
        mentions. Every grid includes both null hypotheses.
    n_trials : int, default 10000
        Number of trials of each design in each scenario.
    seed : int, default 0
        Seed of all random numbers.
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
    keep_trials : bool, default False
        Whether to store the result of each trial in ``evaluation.kept_trials``. Memory then grows with `n_trials`;
        the amount is printed before the start, unless `progress` is False.

    Returns
    -------
    Evaluation
        Operating characteristics of every design in every scenario.

    See Also
    --------
    calibrate : Find the threshold with which a design has a given type I error.
    sample_size : Find the number of patients with which a design has a given power.
    simulate : Simulate policies without looks and stopping rules.

    Examples
    --------
    >>> from adhere import evaluate, load_design
    >>> design = load_design('''
    ... name = "headache"
    ... policy = "thompson"
    ... arms = ["walk", "aspirin"]
    ... n_patients = 200
    ... looks.every = 100
    ... stopping = { by = "posterior", superiority = 0.99 }
    ... ''')
    >>> found = evaluate(design, {"effect": 0.3, "compliance": 0.8, "confounding": 0.1}, n_trials=200)
    >>> found["effect 0.3, compliance 80%, confounding 0.1"].find("power").estimate.mean > 0.4
    True

    """
    n_trials = check_integer("n_trials", n_trials, 1, 2**40)
    seed = check_seed(seed)
    threads = check_workers(n_threads, device, executor)
    listed = list(designs) if isinstance(designs, (list, tuple)) else [designs]
    given = _as_designs(listed)
    scenarios = given_or_own(scenarios, listed[0])
    found = read_scenarios(scenarios, given[0])
    for other in given[1:]:
        read_scenarios(found, other)  # only to check them
    plan = EvaluationPlan(given, found, n_trials, seed, device, keep_trials)
    runner, note = EvaluationRunner(plan), ""
    if keep_trials:
        note = memory_note("keep_trials", n_trials, n_trials * len(found) * plan.bytes_per_trial)
    totals = run_plan(runner, backend_of(runner, executor, threads), progress, note)
    results = [
        Characteristics(
            plan.designs[design],
            plan.scenarios[scenario],
            runner.truths[scenario][design],
            plan.columns[design],
            tuple(total.blocks),
            total.distribution,
            tuple(total.differences),
        )
        for (scenario, design), total in totals.items()
    ]
    outcomes = tuple(TrialOutcomes(*total.kept) for total in totals.values())
    kept = KeptTrials(given, plan.scenarios, outcomes) if keep_trials else None
    notes = [*note_on_outcomes(given[0]), *note_on_default(scenarios, usual_grid(given[0])), *note_on_nulls(found)]
    notes += [note for place in range(len(given)) for note in notes_on(results[place :: len(given)])]
    return Evaluation(given, plan.scenarios, n_trials, seed, version("adhere"), tuple(results), kept, tuple(notes))


def _as_designs(given: list[Any]) -> tuple[Design, ...]:
    designs = tuple(map(_as_design, given))
    if not designs:
        raise InputError("designs", [], "at least one", "designs: none given; expected at least one")
    first, names = designs[0], [design.name for design in designs]
    for design in designs:
        if names.count(design.name) > 1:
            raise InputError("designs", design.name, "each once", f"designs: {design.name!r} is listed twice")
        if design.arms != first.arms:
            expected = f"those of {first.name}, {', '.join(first.arms)}, to compare them"
            raise InputError(f"arms of {design.name}", ", ".join(design.arms), expected)
        if design.lower_is_better != first.lower_is_better:
            expected = f"{str(first.lower_is_better).lower()}, as in {first.name}, to compare them"
            raise InputError(f"lower_is_better of {design.name}", design.lower_is_better, expected)
    return designs


def _as_design(given: Any) -> Design:
    design = load_design(given)
    return given if design == given else design  # return the same object, so that results can be looked up by it
