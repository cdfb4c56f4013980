"""What the tables of trials of twelve patients say."""

from __future__ import annotations

from adhere.simulation import Estimate
from adhere.studies.framework.study import Tables
from adhere.studies.lineup.tables import estimate_in
from adhere.studies.small_trials.tables import AVERAGE


class Facts:
    """The final figures and the gains over Chosen, in the larger size unless another is asked for."""

    def __init__(self, tables: Tables) -> None:
        self.final, self._gains = tables["final"], tables["gains"]
        self.sizes = sorted(set(self.final["n_runs"].to_list()))
        self.size = self.sizes[-1]
        self.n_patients = int(self.final["n_patients"][0])
        self.in_size = self._gains.filter(n_runs=self.size)

    def of(self, reading: str, learner: str = AVERAGE, strategy: str = AVERAGE, size: int | None = None) -> Estimate:
        """A gain over Chosen of the same learner, or an average of several."""
        where = {"population": reading, "learner": learner, "strategy": strategy}
        return estimate_in(self._gains, n_runs=size or self.size, **where)

    def best(self, reading: str) -> tuple[str, Estimate]:
        """The policy with the highest surplus."""
        its = self.final.filter(n_runs=self.size, population=reading, measure="surplus")
        row = its.sort("mean", descending=True, maintain_order=True).row(0, named=True)
        return f"{row['learner']} under {row['label']}", estimate_in(its, policy=row["policy"])
