"""Run the synthetic trials: draw their tables, analyse each table like a user, and count two things: the confidence
sets that contain the truth, and the sentences that are wrong.
"""

import math
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars

from adhere.checks import check_integer
from adhere.files import write_file
from adhere.intervals import wilson
from adhere.randomness import check_seed
from adhere.record_sources import analyse
from adhere.report.numbers import counted
from adhere.report.text_table import paragraph, text_table
from adhere.studies.coverage.synthetic.claims import claims
from adhere.studies.coverage.synthetic.shown import PROMISED, WITHHELD, shown_sets
from adhere.studies.coverage.synthetic.trials import TRIALS, Trial
from adhere.studies.coverage.tally import Tally
from adhere.studies.framework.progress import studies_progress
from adhere.studies.framework.study_cache import write_tables

Row = dict[str, str | float | int | bool | None]
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def draw_table(trial: Trial, seed: int, replication: int) -> polars.DataFrame:
    """Draw one trial as the table that its data manager would deliver. The same seed gives the same numbers."""
    rng = np.random.default_rng([seed, zlib.crc32(trial.title.encode()), replication])
    n, kinds = trial.n_patients, trial.kinds
    kind = rng.choice(len(kinds), n, p=[one.share for one in kinds])
    stratum = np.array([trial.strata.index(one.stratum) for one in kinds])[kind]
    takes = np.array([one.takes for one in kinds])[kind]
    success = np.array([one.success for one in kinds])[kind]
    success = success + trial.drift * np.linspace(0.0, 1.0, n)[:, None]
    gains = (rng.random(n)[:, None] < success).astype(np.float64)
    if trial.allocation.learns:
        chosen, probabilities = _learned(trial, rng, stratum, np.take_along_axis(gains, takes, axis=1))
    else:
        probabilities = np.array([trial.allocation.fixed[name] for name in trial.strata])[stratum]
        chosen = (rng.random(n)[:, None] > np.cumsum(probabilities, axis=1)[:, :-1]).sum(axis=1)
    patients = np.arange(n)
    actual = takes[patients, chosen]
    lost = np.array([one.lost or (0.0,) * len(trial.arms) for one in kinds])[kind, actual]
    reward = np.where(rng.random(n) < lost, np.nan, gains[patients, actual])
    names = np.array(trial.arms)
    columns = {"time": patients, "chosen": names[chosen], "actual": names[actual]}
    table = polars.DataFrame(columns).with_columns(polars.Series("reward", reward, nan_to_null=True))
    if len(trial.strata) > 1:
        table = table.with_columns(stratum=polars.Series(np.array(trial.strata)[stratum]))
    if trial.logged:
        table = table.with_columns(
            **{f"propensity_{arm}": polars.Series(probabilities[:, i]) for i, arm in enumerate(trial.arms)}
        )
    return table


def _learned(trial: Trial, rng: np.random.Generator, stratum: Ints, gains: Floats) -> tuple[Ints, Floats]:
    """Allocate two arms by Thompson sampling on the arm assigned, with a normal approximation of each posterior.

    The logged probability is the one that the arm is drawn with, so it is exact.
    """
    by_stratum = trial.allocation.learns == "by stratum"
    counts = [[[1.0, 1.0], [1.0, 1.0]] for _ in range(len(trial.strata) if by_stratum else 1)]
    draws = rng.random(len(gains)).tolist()
    chosen, treated = [], []
    for i, draw in enumerate(draws):
        here = counts[int(stratum[i]) if by_stratum else 0]
        probability = _better(here[1], here[0])
        arm = int(draw < probability)
        here[arm][0 if gains[i, arm] else 1] += 1.0
        chosen.append(arm)
        treated.append(probability)
    second = np.array(treated)
    return np.array(chosen), np.column_stack([1.0 - second, second])


def _better(one: list[float], other: list[float]) -> float:
    """Return the probability that one Beta variable exceeds another, each approximated as normal."""
    (mean, variance), (other_mean, other_variance) = _moments(*one), _moments(*other)
    return 0.5 * math.erfc((other_mean - mean) / math.sqrt(2.0 * (variance + other_variance)))


def _moments(successes: float, failures: float) -> tuple[float, float]:
    n = successes + failures
    return successes / n, successes * failures / (n * n * (n + 1.0))


LEAST, DOUBTFUL = 0.90, 0.93  # coverage of sets marked 95%: the bar, and the value below which a trial is run again
_SURE = 0.99  # confidence level for wrong sentences in excess of their own level


class SetKind(NamedTuple):
    """Confidence sets of one quantity in one row with one mark. `broken` names false assumptions of the row."""

    quantity: str
    row: str
    mark: str
    broken: str

    @property
    def is_judged(self) -> bool:
        """Return whether the confidence set is marked 95% and all assumptions of its row are true."""
        return self.mark in PROMISED and not self.broken


@dataclass
class ClaimTally:
    """Counts of one kind of sentence: how often it was printed and wrong, and how often chance may make it wrong."""

    level: float
    n: int = 0
    n_wrong: int = 0

    def fails(self, n_replications: int) -> bool:
        """Return whether the sentence was wrong in more trials than its level and chance explain."""
        if not self.n_wrong:
            return False
        return wilson(self.n_wrong, n_replications, _SURE)[0] > self.level


@dataclass
class TrialCount:
    """Counts over the replications of one trial."""

    trial: Trial
    n_replications: int = 0
    sets: dict[SetKind, Tally] = field(default_factory=dict)
    withheld: dict[tuple[str, str], int] = field(default_factory=dict)
    claims: dict[str, ClaimTally] = field(default_factory=dict)

    def below(self, least: float) -> list[SetKind]:
        """Return the confidence sets marked 95% whose assumptions are true and whose coverage is below `least`."""
        return [kind for kind, tally in self.sets.items() if kind.is_judged and tally.n_covering < least * tally.n]

    @property
    def wrong_claims(self) -> list[str]:
        """The kinds of sentences that were wrong too often."""
        return [name for name, tally in self.claims.items() if tally.fails(self.n_replications)]

    def add(self, seed: int, replication: int) -> None:
        """Draw one table, analyse it like a user, and count the confidence sets and sentences."""
        trial = self.trial
        analysis = analyse(draw_table(trial, seed, replication))
        self.n_replications += 1
        for one in shown_sets(analysis, trial):
            if one.mark == WITHHELD or one.found is None:
                place = (one.quantity, one.row)
                self.withheld[place] = self.withheld.get(place, 0) + 1
            elif one.truth is not None:
                kind = SetKind(one.quantity, one.row, one.mark, ", ".join(sorted(one.assumes & trial.breaks)))
                self.sets.setdefault(kind, Tally(one.truth)).add(one.found)
        printed: dict[str, tuple[bool, float]] = {}
        for claim in claims(analysis, trial):  # a kind counts once per replication
            wrong, _ = printed.get(claim.kind, (False, 0.0))
            printed[claim.kind] = (wrong or claim.wrong, claim.level)
        for name, (wrong, level) in printed.items():
            tally = self.claims.setdefault(name, ClaimTally(level))
            tally.n += 1
            tally.n_wrong += wrong


def count_trial(trial: Trial, replications: Iterable[int], seed: int = 0) -> TrialCount:
    """Count over replications. The seed and a replication's number determine its table."""
    counted = TrialCount(trial)
    for replication in replications:
        counted.add(seed, replication)
    return counted


LEGEND = (
    "covers: among tables with the set, the share in which it contains the truth, with a 95% Monte Carlo interval. "
    "Sets are marked 95% if their row is fixed-sample, any-time valid or asymptotic: ✓ covers in at least 90% of "
    "tables, ✗ in fewer, ≠ names an assumption that the trial breaks. Sets marked · promise less, or are withheld. A "
    "sentence is marked ✗ if the truth contradicts it in more tables than its level and chance explain."
)


def summary(counts: Sequence[TrialCount], width: int = 100, *, details: bool = True) -> str:
    """Return the complete report as text."""
    parts = [overview(counts, width)]
    if details:
        parts += [_details(one, width) for one in counts]
    n_sets = sum(len(one.below(LEAST)) for one in counts)
    n_claims = sum(len(one.wrong_claims) for one in counts)
    n_judged = sum(kind.is_judged for one in counts for kind in one.sets)
    parts.append(
        f"{n_judged - n_sets} of {n_judged} kinds of sets marked 95% cover at least {LEAST:.0%}; "
        f"{counted(n_claims, 'kind')} of sentences wrong too often."
    )
    return "\n\n".join([*parts, paragraph(LEGEND, width)])


def overview(counts: Sequence[TrialCount], width: int) -> str:
    """Return a line per trial: the lowest coverage of its confidence sets by mark, and its wrong sentences."""
    rows = [["", "trial", "tables", "marked 95%", "least", "marked less", "least", "withheld", "wrong sentences"]]
    for one in counts:
        judged = [kind for kind in one.sets if kind.is_judged]
        others = [kind for kind in one.sets if kind.mark not in PROMISED]
        ok = not one.below(LEAST) and not one.wrong_claims
        rows.append(
            [
                "✓" if ok else "✗",
                one.trial.title,
                f"{one.n_replications:,}",
                str(len(judged)),
                _least(one, judged),
                str(len(others)),
                _least(one, others),
                str(sum(n == one.n_replications for n in one.withheld.values())),
                str(len(one.wrong_claims)),
            ]
        )
    return text_table(rows, width, "llr", indent="")


def _least(one: TrialCount, kinds: Sequence[SetKind]) -> str:
    shares = [one.sets[kind].n_covering / one.sets[kind].n for kind in kinds if one.sets[kind].n]
    return f"{min(shares):.1%}" if shares else "–"


def _details(one: TrialCount, width: int) -> str:
    rows = [["", "estimand", "truth", "set", "marked", "shown", "covers"]]
    for row in _set_rows(one):
        symbol = "✗" if row["fails"] else "≠" if row["assumption_broken"] else "✓" if row["judged"] else "·"
        mark = f"{row['marked']} ≠ {row['assumption_broken']}" if row["assumption_broken"] else str(row["marked"])
        covers = "–" if row["covers"] is None else f"{row['covers']:.3f} [{row['low']:.3f}, {row['high']:.3f}]"
        truth = "–" if row["truth"] is None else f"{row['truth']:.3f}"
        rows.append([symbol, str(row["estimand"]), truth, str(row["set"]), mark, f"{row['shown']:.0%}", covers])
    said = [["", "sentence", "printed", "wrong"]]
    for row in _claim_rows(one):
        said.append(["✗" if row["fails"] else "✓", *(str(row[name]) for name in said[0][1:])])
    title = f"{one.trial.title} ({one.n_replications:,} tables)"
    return "\n".join([title, text_table(rows, width, "llrllr"), text_table(said, width, "llr")])


def _head(one: TrialCount) -> Row:
    return {"trial": one.trial.name, "patients": one.trial.n_patients, "replications": one.n_replications}


def _set_rows(one: TrialCount) -> Iterator[Row]:
    head = _head(one)
    below = one.below(LEAST)
    for kind, tally in one.sets.items():
        low, high = wilson(tally.n_covering, tally.n)
        yield head | {
            "estimand": kind.quantity,
            "truth": tally.truth,
            "set": kind.row,
            "marked": kind.mark,
            "assumption_broken": kind.broken,
            "shown": tally.n / one.n_replications,
            "covers": tally.n_covering / tally.n,
            "low": low,
            "high": high,
            "median_width": tally.median_width,
            "judged": kind.is_judged,
            "fails": kind in below,
        }
    unknown = dict.fromkeys(("covers", "low", "high", "median_width"))
    for (quantity, row), n in one.withheld.items():
        place = {"estimand": quantity, "truth": None, "set": row, "marked": WITHHELD, "assumption_broken": ""}
        yield head | place | {"shown": n / one.n_replications, **unknown, "judged": False, "fails": False}


def _claim_rows(one: TrialCount) -> Iterator[Row]:
    for name, tally in sorted(one.claims.items()):
        counts = {"printed": tally.n, "wrong": tally.n_wrong, "level": tally.level}
        yield _head(one) | {"sentence": name, **counts, "fails": tally.fails(one.n_replications)}


REPLICATIONS, AGAIN = 200, 10  # tables per trial, and the factor if a trial is run again
_MAX_REPLICATIONS = 100_000
_WIDTH = 160  # of the text file


def synthetic_trials(
    out: Path | str,
    *,
    replications: int = REPLICATIONS,
    seed: int = 0,
    trials: Sequence[Trial] | None = None,
) -> tuple[TrialCount, ...]:
    """Analyse every trial repeatedly, and write the counts into a folder.

    A trial is run again, with ten times as many fresh replications that replace the first ones, in two cases: a set
    marked 95% covers less than 93%, or a sentence is wrong too often.

    Parameters
    ----------
    out
        The folder for `synthetic.txt` and `data/synthetic-….csv`.
    replications
        Number of tables of each trial.
    seed
        The seed. The same seed gives the same numbers.
    trials
        Trials to use instead of the ten.

    """
    out, seed = Path(out), check_seed(seed)
    check_integer("replications", replications, 1, _MAX_REPLICATIONS)
    every, found = TRIALS if trials is None else trials, []
    with studies_progress(replications * len(every)) as progress:
        for trial in every:
            progress.begin(trial.title)
            counted = count_trial(trial, range(replications), seed)
            if counted.below(DOUBTFUL) or counted.wrong_claims:
                progress.begin(f"{trial.title}: again")
                counted = count_trial(trial, range(replications, (1 + AGAIN) * replications), seed)
            progress.finish(replications)
            found.append(counted)
    tables = {"synthetic-sets": _set_rows, "synthetic-sentences": _claim_rows}  # everything about every trial
    rows = {name: [row for one in found for row in of_trial(one)] for name, of_trial in tables.items()}
    write_tables(
        out / "data", {name: polars.DataFrame(every, infer_schema_length=None) for name, every in rows.items()}
    )
    write_file(out / "synthetic.txt", f"{summary(found, _WIDTH)}\n".encode())
    return tuple(found)
