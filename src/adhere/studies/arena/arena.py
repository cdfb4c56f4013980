"""Play every policy in every cell, and write the tables."""

from __future__ import annotations

import io
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import polars

from adhere.checks import check_integer
from adhere.errors import InputError
from adhere.files import write_file
from adhere.randomness import check_seed
from adhere.simulation.simulate import check_device
from adhere.studies.arena.cells import FULL, QUICK, Cell, select
from adhere.studies.arena.entrants import Entrant, entrants
from adhere.studies.arena.kept_plays import KeptPlays
from adhere.studies.arena.play import Played, play
from adhere.studies.arena.tables import LeftOut, make_tables
from adhere.studies.framework.folder_lock import folder_lock
from adhere.studies.framework.machine import machine
from adhere.studies.framework.precompile import precompile
from adhere.studies.framework.progress import StudiesProgress, studies_progress

DATA, RUN = "data", "run.json"
MAX_THREADS = 1024


@dataclass(frozen=True)
class Arena:
    """What a run of the arena came to: its tables by name, and where they are.

    `n_kept` plays of `n_plays` were finished by an earlier run; `seconds` are those of this one, without the
    `compile_seconds`.
    """

    tables: dict[str, polars.DataFrame]
    out: Path
    own: tuple[str, ...]
    n_plays: int
    n_kept: int
    seconds: float
    compile_seconds: float


def arena(
    out: Path | str,
    policies: object = (),
    *,
    families: Sequence[str] | None = None,
    only_own: bool = False,
    quick: bool = False,
    seed: int = 0,
    device: str = "cpu",
    n_threads: int | None = None,
    cells: Sequence[Cell] | None = None,
) -> Arena:
    """Play every policy, and `policies` of one's own, in every cell; write the tables into a folder.

    Plays that an earlier run finished there with the same code, seed and device are not played again, so an
    interrupted run goes on where it was, and one more policy costs its own time alone.

    Parameters
    ----------
    out
        The folder; made if need be.
    policies
        Policies of one's own: texts or values.
    families
        Only these families.
    only_own
        Whether to leave out all policies of the package but Thompson under Chosen, with which others are compared.
    quick
        Whether to play a small grid, for a first look.
    seed
        That of the simulation; the populations have seeds of their own.
    device, n_threads
        As in `simulate`.
    cells
        A grid of one's own.

    """
    began = time.perf_counter()
    out, seed = Path(out), check_seed(seed)
    check_device(device, None)
    if n_threads is not None:
        check_integer("n_threads", n_threads, 1, MAX_THREADS)
    grid = select(tuple(cells or (QUICK if quick else FULL)), list(families) if families is not None else None)
    playing = entrants(policies, only_own)
    kept = KeptPlays(out, seed, device)
    with folder_lock(out):
        plays: dict[Cell, dict[Entrant, Played]] = {cell: {} for cell in grid}
        left_out = [
            LeftOut(cell, one, why) for cell in grid for one in playing if (why := _why_not(one, cell)) is not None
        ]
        absent = {(one.cell, one.entrant) for one in left_out}
        wanted = [(cell, one) for cell in grid for one in playing if (cell, one) not in absent]
        found = {pair: kept.load(pair[1].policy, pair[0]) for pair in wanted}
        missing = [pair for pair in wanted if found[pair] is None]
        compile_seconds = 0.0
        with studies_progress(sum(cell.total_patients for cell, _ in missing)) as progress:
            if device == "cpu":
                compile_seconds += _precompile(missing, progress.announce)
            title = ""
            for cell, one in wanted:
                if (played := found[cell, one]) is None:
                    if title != (title := f"{cell.family}, {cell.n_patients:,} patients"):
                        progress.begin(title)
                    try:
                        played = _play(cell, one, seed, device, n_threads, progress)
                    except InputError as error:  # what a policy says only when it is assembled
                        left_out.append(LeftOut(cell, one, str(error)))
                        continue
                    finally:
                        progress.finish(cell.total_patients)
                    kept.save(one.policy, cell, played)
                    compile_seconds += played.compile_seconds
                plays[cell][one] = played
        tables = make_tables(plays, left_out)
        seconds = time.perf_counter() - began - compile_seconds
        own = tuple(one.text for one in playing if one.is_own)
        done = Arena(tables, out, own, len(wanted), len(wanted) - len(missing), seconds, compile_seconds)
        _write(done, {"seed": seed, "quick": quick, "device": device})
    return done


def _why_not(entrant: Entrant, cell: Cell) -> str | None:
    """Why a policy cannot play in a cell, in the words in which it refuses; None if it can."""
    try:
        entrant.policy.resolved(cell.population.n_arms, cell.n_patients)
    except InputError as error:
        return str(error)
    return None


def _play(
    cell: Cell, entrant: Entrant, seed: int, device: str, n_threads: int | None, progress: StudiesProgress
) -> Played:
    return play(
        entrant.policy, cell.population, cell.truth, cell.n_patients, cell.n_runs, seed, progress,
        device=device, n_threads=n_threads,
    )  # fmt: skip


def _precompile(missing: Sequence[tuple[Cell, Entrant]], announce: Callable[[str], None]) -> float:
    """Compile in several processes what comes with the package; return how long it took."""
    began = time.perf_counter()
    compositions = [
        (one.text, cell.population.n_arms)
        for cell, one in missing
        if all(type(part).__module__.startswith("adhere.") for part in one.policy.parts())
    ]
    precompile(compositions, announce)
    return time.perf_counter() - began


def _write(done: Arena, settings: dict[str, object]) -> None:
    for name, table in done.tables.items():
        csv, parquet = io.BytesIO(), io.BytesIO()
        table.write_csv(csv)
        table.write_parquet(parquet)
        write_file(done.out / DATA / f"{name}.csv", csv.getvalue())
        write_file(done.out / DATA / f"{name}.parquet", parquet.getvalue())
    run = {
        "settings": {**settings, "version": version("adhere")},
        "machine": machine(),
        "own_policies": done.own,
        "plays": done.n_plays,
        "plays_of_earlier_runs": done.n_kept,
        "seconds": done.seconds,
        "compile_seconds": done.compile_seconds,
    }
    write_file(done.out / RUN, json.dumps(run, indent=1).encode())
