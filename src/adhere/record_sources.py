"""Read records for an analysis from a table, a frame, a log, a database of trials, or a trial in memory."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from adhere.analysis.adaptive.randomisation_test import (
    N_REDRAWS,
    LoggedAllocation,
    RandomisationTest,
    randomisation_tests,
)
from adhere.analysis.analyse import analyse_records
from adhere.analysis.analysis import Analysis
from adhere.analysis.records import Records, digest_of
from adhere.checks import check_integer
from adhere.errors import InputError, nearest
from adhere.frames import is_frame
from adhere.populations import Counts, PopulationLike, as_population, built_in_populations
from adhere.randomness import check_seed
from adhere.records.arms import control_of
from adhere.trial.domain.events import created_event
from adhere.trial.log.records import trial_records
from adhere.trial.log.replay_schedule import allocation_of, logged_allocation
from adhere.trial.sources import is_table_file, one_trial
from adhere.trial.trial import Trial

_EXPECTED = (
    "a table (.csv, .csv.gz, .tsv, .parquet), a frame of polars, pandas or Arrow, a log, a file of trials,"
    " postgresql://…, or an adhere.Trial"
)
_A_TABLE = "a table: only there columns can be named"
_NEEDS_A_LOG = (
    "The randomisation test by replay was not run: it needs the log of a live trial, which says by which policy arms"
    " were drawn and what it knew."
)
MAX_REDRAWS = 10_000_000
_COLUMNS = ("actual", "chosen", "count", "propensity", "reward", "stratum", "subject", "time")
_SITE = ("site", "siteid")


class Read(NamedTuple):
    """Records, and, if a log contains this information, how their arms were drawn."""

    records: Records
    allocation: LoggedAllocation | None


def records_of(given: object, trial: str | None = None, **options: Any) -> Records:
    """Return the records in a table, frame, log, database, trial or population.

    Parameters
    ----------
    given
        A frame or the path of a table; the path of a log that `adhere trial export` or `Trial.save` wrote, or of a
        file of trials; an address `postgresql://…`; an `adhere.Trial`; records; or a population made of counts
        (`stroke-aspirin` and `stroke-heparin` come with adhere).
    trial
        Name of the trial, if there are several.
    options
        `arms`: all arms of a table, in order (by default `adhere.records.arms` decides). `control`: the arm that the
        others are compared with. `chosen`, `actual`, `reward`, `propensity`, `stratum`, `time`, `count`, `subject`:
        columns of a table, as in `adhere.analysis.reading.from_table.read_records`. For a log or a database of
        trials, `stratum="site"` makes each site a stratum.

    """
    return records_and_allocation(given, trial, with_allocation=False, **options).records


def records_and_allocation(
    given: object,
    trial: str | None = None,
    *,
    arms: Sequence[object] | None = None,
    control: str | float | None = None,
    with_allocation: bool = True,
    **columns: str | None,
) -> Read:
    """Return the same as `records_of`, and for a log, a database or a trial also how the arms were drawn."""
    for role in columns:
        if role not in _COLUMNS:
            raise InputError("column", role, nearest(role, _COLUMNS))
    named = {role: title for role, title in columns.items() if title is not None}
    is_path = isinstance(given, (str, PathLike))
    if is_path and _is_population(str(given)):
        given, is_path = _counts(str(given)), False
    is_log = is_path and not is_table_file(str(given).strip())
    if arms is not None and (is_log or not (is_path or is_frame(given))):
        raise InputError("arms", arms, _A_TABLE)
    if is_log:
        return _with_control(_of_a_trial(str(given).strip(), trial, named, with_allocation), control)
    if trial is not None:
        raise InputError("trial", trial, "a file of trials or postgresql://…: only there trials have names")
    if is_path or is_frame(given):
        from adhere.analysis.reading.from_table import read_records

        return Read(read_records(given, arms=arms, control=control, **named), None)
    for role, title in named.items():
        raise InputError(role, title, _A_TABLE)
    if isinstance(given, Trial):
        allocation = allocation_of(given.events) if with_allocation else None
        return _with_control(Read(given.records(), allocation), control)
    if isinstance(given, Counts):
        return _with_control(Read(_records_of_counts(given), None), control)
    if isinstance(given, Records):
        return _with_control(Read(given, None), control)
    raise InputError("records", type(given).__name__, _EXPECTED)


def analyse(
    given: PopulationLike | Trial | Records,
    trial: str | None = None,
    *,
    arms: Sequence[object] | None = None,
    control: str | float | None = None,
    level: float = 0.95,
    margin: float = 0.05,
    lower_is_better: bool | None = None,
    fixed_allocation: bool = False,
    redraws: int = N_REDRAWS,
    seed: int = 0,
    on_progress: Callable[[int], None] = lambda n: None,
    **columns: str | None,
) -> Analysis:
    """Analyse records of a trial: every view side by side, and which of them to trust.

    Parameters
    ----------
    given : str, path, frame, Trial, Population or Records
        Records: a table, a log, a file of trials, an address of PostgreSQL, or a trial in memory.
    trial : str, optional
        Name of the trial, if there are several.
    arms : sequence, optional
        All arms in their order. The default follows the rule of `adhere.records.arms`.
    control : str or float, optional
        Arm that the others are compared with. The default is that of the design, or the first arm.
    level : float, default 0.95
        Level of all confidence sets.
    margin : float, default 0.05
        Largest difference up to which outcomes, given the arm taken, count as independent of the arm recommended.
    lower_is_better : bool, optional
        Whether a lower outcome is better, for example because 1 is a death. An outcome y is then read as 1 − y. The
        default is what the design or an exported table (LOWERFL) says, and otherwise False.
    fixed_allocation : bool, default False
        Whether to declare that arms were assigned with probabilities fixed in advance, and that this is the only
        look. No warning then says that the records do not show it.
    redraws : int, default 10000
        Number of allocations that the randomisation test draws, if a log says how arms were drawn. With 0 there is no
        test.
    seed : int, default 0
        Seed of the randomisation test.
    on_progress : callable, optional
        Function that is called with the number of allocations drawn since its last call.
    **columns : str
        Columns of a table that have other names: `chosen`, `actual`, `reward`, `count`, `propensity`, `stratum`,
        `time` and `subject`.

    Returns
    -------
    Analysis
        Findings, which print and convert.

    See Also
    --------
    Analysis.effect : The effect of one arm by one view.
    simulate : Simulate policies on the same records.

    Examples
    --------
    >>> rows = {"chosen": ["no", "yes"] * 200, "actual": ["no", "yes"] * 200, "reward": [0, 0, 0, 1] * 100}
    >>> import polars
    >>> print(analyse(polars.DataFrame(rows)).verdict[1])
    Its interval holds if the probabilities of arms were fixed in advance and this is the only look.

    """
    check_integer("redraws", redraws, 0, MAX_REDRAWS)
    records, allocation = records_and_allocation(
        given, trial, arms=arms, control=control, with_allocation=True, **columns
    )

    def redrawn() -> tuple[RandomisationTest, ...]:
        if not redraws or not records.has_all_probabilities:
            return ()
        if allocation is None:
            others = [arm for arm in records.arms if arm != records.arms[records.control]]
            control_arm = records.arms[records.control]
            return tuple(RandomisationTest(arm, control_arm, None, None, 0, False, _NEEDS_A_LOG) for arm in others)
        return randomisation_tests(allocation, records.control, redraws, check_seed(seed), on_progress)

    return analyse_records(
        records,
        level=level,
        margin=margin,
        randomisation=redrawn,
        lower_is_better=lower_is_better,
        fixed_allocation=fixed_allocation,
    )


def _is_population(text: str) -> bool:
    """Return whether a text names a population that comes with adhere, or its published file, rather than a file."""
    return text.partition(":")[0].strip().lower() in built_in_populations() and not Path(text.strip()).exists()


def _counts(name: str) -> Counts:
    population = as_population(name)
    if isinstance(population, Counts):
        return population
    expected = "a file of records, or stroke-aspirin or stroke-heparin, which are the counts of a trial"
    raise InputError("source", name, expected, f"{name} has no records: it is simulated; expected {expected}")


def _records_of_counts(population: Counts) -> Records:
    """Convert counts to records: one entry for each row of counts, with its number of patients."""
    number = {arm: index for index, arm in enumerate(population.arms)}
    records = Records(
        name=population.name,
        source=population.source,
        arms=population.arms,
        chosen=np.array([number[row.chosen] for row in population.counts], dtype=np.int64),
        actual=np.array([number[row.actual] for row in population.counts], dtype=np.int64),
        reward=np.array([row.reward for row in population.counts], dtype=np.float64),
        count=np.array([row.patients for row in population.counts], dtype=np.int64),
        control=control_of(population.arms),
    )
    return replace(records, digest=digest_of(records))


def _of_a_trial(source: str, trial: str | None, columns: Mapping[str, str], with_allocation: bool) -> Read:
    by_site = columns.get("stratum", "").lower() in _SITE
    for role, title in columns.items():
        if role != "stratum" or not by_site:
            raise InputError(role, title, f"{_A_TABLE} (of a log: stratum=site)")
    with one_trial(source, trial, option="trial=… (--trial)") as found:
        design = created_event(found.view, found.number).design
        records = trial_records(found.view, found.number, design, by_site=by_site)
        allocation = logged_allocation(found.view, found.number) if with_allocation else None
    where = "PostgreSQL" if "://" in source else source  # an address may contain a password
    return Read(replace(records, source=f"trial {found.name} in {where}"), allocation)


def _with_control(read: Read, control: str | float | None) -> Read:
    if control is None:
        return read
    return read._replace(records=replace(read.records, control=control_of(read.records.arms, control)))
