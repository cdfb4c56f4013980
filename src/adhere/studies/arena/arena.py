"""Play every policy in every cell of the grid, and write the tables."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from adhere.checks import check_integer
from adhere.compilation.user_code import sentence_of
from adhere.errors import InputError
from adhere.policies import PolicyLike
from adhere.policies.base.policy import TrialShape
from adhere.policies.tables.table_cache import postponing
from adhere.randomness import check_seed
from adhere.simulation.execution.workers import check_device
from adhere.studies.arena.cells import FULL, QUICK, Cell, select
from adhere.studies.arena.entrants import Entrant, entrants
from adhere.studies.arena.families import ARENA_SEED
from adhere.studies.arena.play import KeptPlays, Played, comes_with_adhere, play
from adhere.studies.framework.precompile import precompile
from adhere.studies.framework.progress import studies_progress
from adhere.studies.framework.report_writer import PageRun, check_page_folder, folder_lock, write_page

MAX_THREADS = 1024
_NEEDED = {"matplotlib": "report", "jinja2": "report"}
_QUICK = "This is a quick run on half of the populations, with fewer runs and without the longest trials."


@dataclass(frozen=True)
class Arena(PageRun):
    """The result of a run of the arena.

    An earlier run finished `n_kept` of the `n_plays` plays. `seconds` is the duration of this run, without its
    `compile_seconds`.
    """

    own: tuple[str, ...]
    n_plays: int
    n_kept: int
    compile_seconds: float


def arena(
    out: Path | str,
    policies: PolicyLike | Iterable[PolicyLike] = (),
    *,
    families: Sequence[str] | None = None,
    only_own: bool = False,
    quick: bool = False,
    seed: int = 0,
    device: str = "cpu",
    n_threads: int | None = None,
    cells: Sequence[Cell] | None = None,
) -> Arena:
    """Run every policy, and policies of your own, in every cell of the arena, and write the tables into a folder.

    Results of the package's policies are reused from an earlier run with the same code, seed and device. An
    interrupted run therefore continues, and another policy costs only its own time.

    Parameters
    ----------
    out : str or Path
        Folder for the tables. It is created if necessary.
    policies : Policy, str, or an iterable of these, optional
        Policies of your own.
    families : sequence of str, optional
        Names of the families to use. The default is all.
    only_own : bool, default False
        Whether to leave out all policies of the package except Thompson sampling under Chosen, which is the
        reference.
    quick : bool, default False
        Whether to use a small grid, for a first impression.
    seed : int, default 0
        Seed of the simulation. The populations have seeds of their own.
    device : {"cpu", "cuda"}, default "cpu"
        Device that runs the trials.
    n_threads : int, optional
        Number of threads, as in `simulate`.
    cells : sequence of Cell, optional
        Grid of your own.

    Returns
    -------
    Arena
        Tables of results.

    See Also
    --------
    simulate : Compare policies on populations of your own.

    Examples
    --------
    >>> import tempfile
    >>> from adhere import InputError, arena
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     try:
    ...         arena(folder, families=["unknown"])
    ...     except InputError as error:
    ...         print(error.field)
    family

    """
    # It imports polars, which `import adhere` must not wait for.
    from adhere.studies.arena.tables import LeftOut, make_tables

    began = time.perf_counter()
    out, seed = Path(out), check_seed(seed)
    check_device(device, None)
    if n_threads is not None:
        check_integer("n_threads", n_threads, 1, MAX_THREADS)
    grid = select(tuple(cells or (QUICK if quick else FULL)), list(families) if families is not None else None)
    playing = entrants(policies, only_own)
    check_page_folder(out, _NEEDED)
    kept = KeptPlays(out, seed, device)
    with folder_lock(out):
        plays: dict[Cell, dict[Entrant, Played]] = {cell: {} for cell in grid}
        meant = [(cell, one) for cell in grid for one in playing if cell.is_of_frontier or not one.for_frontier]
        left_out = [LeftOut(cell, one, why) for cell, one in meant if (why := _why_not(one, cell)) is not None]
        absent = {(one.cell, one.entrant) for one in left_out}
        wanted = [pair for pair in meant if pair not in absent]
        found = {pair: kept.load(pair[1].policy, pair[0]) for pair in wanted}
        missing = [pair for pair in wanted if found[pair] is None]
        compile_seconds = 0.0
        with studies_progress(sum(cell.total_patients for cell, _ in missing)) as progress:
            if device == "cpu":
                compile_seconds += _precompile(missing, progress.compiled)
            title = ""
            for cell, one in wanted:
                if (played := found[cell, one]) is None:
                    if title != (title := f"{cell.family}, {cell.n_patients:,} patients"):
                        progress.begin(title)
                    try:
                        played = play(one.policy, cell, seed, progress, device=device, n_threads=n_threads)
                    except InputError as error:  # an error that a policy raises only when it plays
                        left_out.append(LeftOut(cell, one, str(error)))
                        continue
                    except Exception as error:
                        if comes_with_adhere(one.policy):
                            raise
                        left_out.append(LeftOut(cell, one, f"fails: {sentence_of(error)}"))
                        continue
                    finally:
                        progress.finish(cell.total_patients)
                    kept.save(one.policy, cell, played)
                    compile_seconds += played.compile_seconds
                plays[cell][one] = played
        tables = make_tables(plays, left_out)
        seconds = time.perf_counter() - began - compile_seconds
        own = tuple(one.text for one in playing if one.is_own)
        done = Arena(tables, out, seconds, own, len(wanted), len(wanted) - len(missing), compile_seconds)
        write_arena(done, seed, quick, device)
    return done


def write_arena(done: Arena, seed: int, quick: bool, device: str) -> None:
    """Write all files of the arena, the page last."""
    from adhere.studies.arena.page import arena_page

    write_page(
        done,
        {"seed": seed, "quick": quick, "device": device},
        {
            "own_policies": done.own,
            "plays": done.n_plays,
            "plays_of_earlier_runs": done.n_kept,
            "seconds": done.seconds,
            "compile_seconds": done.compile_seconds,
        },
        {
            "Size": "a small grid (quick)" if quick else "the whole grid",
            "Seed": f"{seed} of the simulation, {ARENA_SEED} of the populations",
            "Device": device,
            "Duration": f"{done.seconds:.0f} s, and {done.compile_seconds:.0f} s to compile; "
            f"{done.n_kept:,} of {done.n_plays:,} plays came from an earlier run",
        },
        lambda foot: arena_page(done.tables, foot, _QUICK if quick else ""),
    )


def _why_not(entrant: Entrant, cell: Cell) -> str | None:
    """Return the policy's own message on why it cannot play in a cell, or None if it can play."""
    try:
        with postponing():  # tables are computed when they are needed
            resolved = entrant.policy.resolved(cell.population.n_arms, cell.n_patients)
            resolved.assemble(TrialShape(cell.population.n_arms, cell.population.reward_values, cell.population.arms))
    except InputError as error:
        return str(error)
    return None


def _precompile(missing: Sequence[tuple[Cell, Entrant]], on_progress: Callable[[int, int], None]) -> float:
    """Compile adhere's own policies in several processes. Return how long it took, in seconds."""
    began = time.perf_counter()
    compositions = [(one.text, cell.population.n_arms) for cell, one in missing if comes_with_adhere(one.policy)]
    precompile(compositions, on_progress)
    return time.perf_counter() - began
