"""Simulate many trials at once: every policy on every population, with the same numbers on any machine."""

import warnings
from collections.abc import Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeAlias

from adhere.checks import check_integer
from adhere.errors import InputError, quoted
from adhere.frames import is_frame
from adhere.policies import Policy, PolicyLike, as_policy
from adhere.policies.guards.floor import ControlWarning, protected_control
from adhere.populations import Population, PopulationLike, as_population
from adhere.randomness import MAX_DECISIONS, check_seed
from adhere.simulation.execution.backend import run_plan
from adhere.simulation.execution.plan import memory_note
from adhere.simulation.execution.progress import Progress
from adhere.simulation.execution.workers import backend_of, check_workers
from adhere.simulation.kernels.python_runner import PlainPolicy, name_of
from adhere.simulation.measures.measure import MEASURES
from adhere.simulation.results.outcome import Config, Outcome
from adhere.simulation.results.result import SimulationResult
from adhere.simulation.results.runs import OutcomeRuns, Runs
from adhere.simulation.simulation_plan import SimulationPlan, SimulationRunner, grid_points

POOLED = "pooled"
_ALIKE = 1e-9  # means of equally good arms may differ by this much
AnyPolicy: TypeAlias = PolicyLike | PlainPolicy


def simulate(
    policies: AnyPolicy | Iterable[AnyPolicy],
    populations: PopulationLike | Iterable[PopulationLike],
    n_patients: int,
    n_runs: int,
    seed: int = 0,
    *,
    reference: AnyPolicy | None = None,
    grid: int | Sequence[int] | None = None,
    pooled: bool = False,
    n_threads: int | None = None,
    device: str = "cpu",
    executor: Executor | None = None,
    progress: Progress | bool | None = None,
    keep_runs: bool = False,
) -> SimulationResult:
    """Run every policy on every population, in `n_runs` trials of `n_patients` patients each.

    In run r, all policies meet the same counterfactual patients, so differences between policies have paired standard
    errors. The same seed gives the same numbers to the last bit, on any machine and with any number of workers.

    Parameters
    ----------
    policies : Policy, str, mapping, plain object, or an iterable of these
        One or several policies: values, texts such as ``"thompson/actual"``, or plain objects with the methods
        ``choose`` and ``update``.
    populations : Population, str, path, frame, or an iterable of these
        One or several populations: values, built-in names, paths of TOML, CSV or Parquet files, or frames of pandas
        or polars.
    n_patients : int
        Number of patients in a trial.
    n_runs : int
        Number of simulated trials.
    seed : int, default 0
        Seed of all random numbers.
    reference : Policy or str, optional
        Policy that the others are compared with. The default is the first policy.
    grid : sequence of int or int, optional
        Numbers of patients after which the measures are recorded, or how many such points to spread evenly.
    pooled : bool, default False
        Whether to add the mean over all populations, computed run by run, as a population called ``"pooled"``.
    n_threads : int, optional
        Number of threads. The default is the number of processors that this process may use (see `adhere doctor`).
    device : {"cpu", "cuda"}, default "cpu"
        Device that runs the trials. ``"cuda"`` needs the extra ``gpu``.
    executor : concurrent.futures.Executor, optional
        Executor that runs the trials in place of threads, such as the ``client.get_executor()`` of a Dask cluster.
        Its workers need the same version of adhere. It is not shut down.
    progress : bool or Progress, optional
        Whether to show a progress bar, or an object that is told the progress. By default, a bar is shown on a
        terminal and in a notebook.
    keep_runs : bool, default False
        Whether to store the result of each run in ``result.runs``. Memory then grows with `n_runs`; the amount is
        printed before the start.

    Returns
    -------
    SimulationResult
        Surplus, regret and other measures of every policy on every population.

    See Also
    --------
    evaluate : Simulate designs with looks and stopping rules.
    arena : Compare all policies on a fixed grid of populations.
    as_population : Make a population from a file or a frame.

    Examples
    --------
    >>> result = simulate("thompson", "defiers", n_patients=100, n_runs=50)
    >>> result[0].surplus.mean > 40
    True

    """
    n_patients = check_integer("n_patients", n_patients, 1, MAX_DECISIONS - 1)
    n_runs = check_integer("n_runs", n_runs, 1, 2**40)
    seed = check_seed(seed)
    threads = check_workers(n_threads, device, executor)
    points = grid_points(grid, n_patients)
    given = [_as_runnable(policy) for policy in _several(policies)]
    listed = _several(populations)
    answering = [as_population(population) for population in listed]
    names = [name_of(policy) for policy in given]
    answering = _with_names_of_their_own(answering, listed)
    for field, called in (("policies", names), ("populations", [population.name for population in answering])):
        if not called:
            raise InputError(field, [], "at least one", f"{field}: none given; expected at least one")
        for name in called:
            if called.count(name) > 1:
                raise InputError(field, name, "each of them once", f"{field}: {name!r} is listed twice")
    if pooled and len(answering) < 2:
        raise InputError("pooled", pooled, "at least two populations to pool")
    for name, policy in zip(names, given, strict=True):
        if device == "cuda" and not isinstance(policy, Policy):
            raise InputError("policies", name, "policies that are compiled: plain objects do not run on a GPU")
    reference_index = _reference(reference, given)
    plan = SimulationPlan(
        tuple(given), tuple(answering), reference_index, n_patients, n_runs, seed, points, pooled, device, keep_runs
    )
    note = f"{_memory_note(plan)}, a table of them as much again" if keep_runs else ""
    runner = SimulationRunner(plan)
    orders = [_arm_order(one, given) for one in answering]
    totals = run_plan(runner, backend_of(runner, executor, threads), progress, note)
    config = Config(n_patients, n_runs, seed, tuple(points.tolist()), names[reference_index], version("adhere"))
    sources = "; ".join(dict.fromkeys(one.source for one in answering if one.source))
    outcomes, runs = list[Outcome](), list[OutcomeRuns]()
    for i, j in sorted(totals):
        total, name = totals[i, j], names[j]
        if i < len(answering):
            population, made = answering[i], runner.runners[i][j]
            about = made.resolved, population.name, population.source, population.arms, made.components
            order_and_best = orders[i], _best_arm(population)
        else:
            about, order_and_best = (name, POOLED, sources, (), ()), ("", "")
        outcome = Outcome(name, *about, config.grid, total.blocks[0], total.distribution, *order_and_best)
        outcomes.append(outcome)
        if keep_runs:
            runs.append(OutcomeRuns(outcome.population, name, outcome.arms, total.kept[0].T))
    return SimulationResult(config, tuple(outcomes), Runs(tuple(runs)) if keep_runs else None)


def _memory_note(plan: SimulationPlan) -> str:
    n_arms = [population.n_arms for population in plan.populations] + [0] * plan.pooled
    per_run = 8 * len(plan.policies) * sum(len(MEASURES) + n for n in n_arms)
    return memory_note("keep_runs", plan.n_runs, plan.n_runs * per_run)


def _with_names_of_their_own(populations: list[Population], given: list[object]) -> list[Population]:
    """Rename different populations that share a name: a file gets its path as its name, a frame gets a number."""
    names = [population.name for population in populations]
    renamed = []
    for number, (one, text) in enumerate(zip(populations, given, strict=True), start=1):
        if names.count(one.name) > 1 and (isinstance(text, (str, Path)) or is_frame(text)):
            one = replace(one, name=f"{one.name} {number}" if is_frame(text) else str(text))
        renamed.append(one)
    return renamed


def _arm_order(population: Population, policies: list[object]) -> str:
    """Return what decided the order of the arms. If the arms were listed, return the arm that a floor protects."""
    if population.arm_order:
        return population.arm_order
    control, warning = protected_control(policies, population.arms)
    if warning:
        warnings.warn(f"{population.name}: {warning}", ControlWarning, stacklevel=3)
    if not control:
        return ""
    return f"control: {quoted([control])[0]} (the first arm listed){f'; {warning}' if warning else ''}"


def _best_arm(population: Population) -> str:
    """Return the best arms to recommend, or "" if all are equally good or the best one differs between runs."""
    means = population.mean_given_chosen()
    best = [arm for arm, mean in zip(population.arms, means, strict=True) if mean > means.max() - _ALIKE]
    return " or ".join(quoted(best)) if len(best) < population.n_arms else ""


def _as_runnable(given: object) -> object:
    return as_policy(given) if isinstance(given, (str, dict)) else given


def _reference(reference: object, given: list[object]) -> int:
    if reference is None:
        return 0
    wanted = _as_runnable(reference)
    if wanted not in given:
        raise InputError("reference", name_of(wanted), "one of the policies simulated")
    return given.index(wanted)


def _several(given: Any) -> list[Any]:
    """Return one argument or several as a list."""
    alone = isinstance(given, (str, Path, Policy, Population, dict)) or is_frame(given)
    alone = alone or not isinstance(given, Iterable)
    return [given] if alone else list(given)
