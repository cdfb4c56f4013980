"""Run the synthetic trials: once, and those in doubt again with more replications."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from adhere.checks import check_integer
from adhere.files import write_file
from adhere.randomness import check_seed
from adhere.studies.coverage.synthetic.counting import DOUBTFUL, TrialCount
from adhere.studies.coverage.synthetic.listing import claim_table, set_table, summary
from adhere.studies.coverage.synthetic.patients import Trial
from adhere.studies.coverage.synthetic.trials import TRIALS
from adhere.studies.framework.progress import studies_progress
from adhere.studies.framework.study_cache import write_tables

REPLICATIONS, AGAIN = 200, 10  # tables of a trial, and how many times as many where it is run again
_MAX_REPLICATIONS = 100_000
_WIDTH = 160  # of the file


def synthetic_trials(
    out: Path | str,
    *,
    replications: int = REPLICATIONS,
    seed: int = 0,
    trials: Sequence[Trial] | None = None,
) -> tuple[TrialCount, ...]:
    """Analyse every trial again and again, and write what was counted into a folder.

    A trial with a set marked 95% that covers less than 93%, or with a sentence that is wrong too often, is run again
    with ten times as many fresh replications, and these count.

    Parameters
    ----------
    out
        The folder; `synthetic.txt` and `data/synthetic-….csv` go there.
    replications
        Tables of each trial.
    seed
        The same seed gives the same numbers.
    trials
        Trials of one's own choice, instead of the ten.

    """
    out, seed = Path(out), check_seed(seed)
    check_integer("replications", replications, 1, _MAX_REPLICATIONS)
    every, found = TRIALS if trials is None else trials, []
    with studies_progress(replications * len(every)) as progress:
        for trial in every:
            progress.begin(trial.title)
            counted = TrialCount(trial)
            for replication in range(replications):
                counted.add(seed, replication)
            if counted.below(DOUBTFUL) or counted.wrong_claims:
                progress.begin(f"{trial.title}: again")
                counted = TrialCount(trial)
                for replication in range(replications, (1 + AGAIN) * replications):
                    counted.add(seed, replication)
            progress.finish(replications)
            found.append(counted)
    write_tables(out / "data", {"synthetic-sets": set_table(found), "synthetic-sentences": claim_table(found)})
    write_file(out / "synthetic.txt", f"{summary(found, _WIDTH)}\n".encode())
    return tuple(found)
