"""Draw and analyse every trial of the study on all cores, and write the results."""

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path
from queue import SimpleQueue

from adhere.checks import check_integer
from adhere.files import write_file
from adhere.processors import usable_processors
from adhere.randomness import check_seed
from adhere.studies.coverage.batches import Batch, Counted, run_batch
from adhere.studies.coverage.cells import FULL, QUICK, Cell
from adhere.studies.coverage.judgements import judge, markdown
from adhere.studies.coverage.page import coverage_page
from adhere.studies.coverage.tables import make_tables
from adhere.studies.coverage.worker import Worker
from adhere.studies.framework.progress import StudiesProgress, studies_progress
from adhere.studies.framework.report_writer import PageRun, check_page_folder, folder_lock, write_page

_FIXED_BATCH, _ADAPTIVE_BATCH = 500, 50  # trials
_MAX_PROCESSES = 1024
_SUMMARY = "summary.md"
_QUICK = "This is a quick run: with few trials, many bars stay open."
_NEEDED = {"scipy": "analysis", "matplotlib": "report", "jinja2": "report"}


def coverage(
    out: Path | str,
    *,
    quick: bool = False,
    seed: int = 0,
    n_processes: int | None = None,
    cells: Sequence[Cell] | None = None,
) -> PageRun:
    """Run the study and write its page and tables into a folder.

    Parameters
    ----------
    out
        The folder; created if necessary.
    quick
        Whether to draw few trials, for a first look.
    seed
        The seed. The same seed gives the same numbers on any number of cores.
    n_processes
        Number of processes that draw and analyse trials; by default, one per core. With 1, this process does
        everything.
    cells
        The cells to run instead of the study's own.

    """
    began = time.perf_counter()
    out, seed = Path(out), check_seed(seed)
    if n_processes is not None:
        check_integer("n_processes", n_processes, 1, _MAX_PROCESSES)
    check_page_folder(out, _NEEDED)
    batches = _batches(tuple(cells or (QUICK if quick else FULL)), seed)
    with folder_lock(out):
        found: dict[Batch, Counted] = {}
        with studies_progress(sum(batch.n_trials for batch in batches)) as progress:
            for batch, one in _run(_compiling_first(batches), n_processes or usable_processors(), progress):
                found[batch] = one
                progress.finish(batch.n_trials)
        counted = {batch.cell: Counted() for batch in batches}
        for batch in batches:  # in this order, whichever finished first
            counted[batch.cell].join(found[batch])
        done = PageRun(make_tables(counted), out, time.perf_counter() - began)
        write_coverage(done, seed, quick)
    return done


def write_coverage(done: PageRun, seed: int, quick: bool) -> None:
    """Write all files of the study, the page last."""
    write_file(done.out / _SUMMARY, markdown(judge(done.tables)).encode())
    write_page(
        done,
        {"seed": seed, "quick": quick},
        {"seconds": done.seconds},
        {
            "Size": "few trials (quick)" if quick else "all trials",
            "Seed": str(seed),
            "Duration": f"{done.seconds:.0f} s",
        },
        lambda foot: coverage_page(done.tables, foot, _QUICK if quick else ""),
    )


def _batches(cells: Sequence[Cell], seed: int) -> list[Batch]:
    """Return batches that do not depend on the number of processes, because a batch's number determines its draws."""
    found = []
    for cell in cells:
        size = _FIXED_BATCH if cell.is_fixed else _ADAPTIVE_BATCH
        starts = range(0, cell.n_trials, size)
        found += [Batch(cell, seed, i, min(size, cell.n_trials - start)) for i, start in enumerate(starts)]
    return found


def _compiling_first(batches: Sequence[Batch]) -> list[Batch]:
    """Return the first batch of each policy before the others, so that no two processes compile the same policy."""
    first = {batch.cell.policy: batch for batch in reversed(batches) if not batch.cell.is_fixed}
    ahead = [batch for batch in batches if batch in first.values()]
    return ahead + [batch for batch in batches if batch not in ahead]


def _run(batches: Sequence[Batch], n_processes: int, progress: StudiesProgress) -> Iterator[tuple[Batch, Counted]]:
    title = ""
    if n_processes == 1:
        for batch in batches:
            if title != (title := batch.cell.title):
                progress.begin(title)
            yield batch, run_batch(batch)
        return
    workers: SimpleQueue[Worker] = SimpleQueue()
    started = [Worker() for _ in range(min(n_processes, len(batches)))]
    for one in started:
        workers.put(one)

    def run(batch: Batch) -> Counted:
        worker = workers.get()
        counted = worker.run(batch)
        workers.put(worker)
        return counted

    with ThreadPoolExecutor(len(started)) as pool:
        try:
            waiting = iter(batches)
            pending: dict[Future[Counted], Batch] = {}
            while True:
                for batch in waiting:
                    pending[pool.submit(run, batch)] = batch
                    if title != (title := batch.cell.title):
                        progress.begin(title)
                    if len(pending) >= 2 * len(started):
                        break
                if not pending:
                    return
                for future in wait(pending, return_when=FIRST_COMPLETED).done:
                    yield pending.pop(future), future.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            for one in started:
                one.stop()
