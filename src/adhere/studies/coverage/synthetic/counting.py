"""Replications of a synthetic trial: what every set held, and which sentences were printed and wrong."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from adhere.intervals import wilson
from adhere.record_sources import analyse
from adhere.studies.coverage.synthetic.claims import claims
from adhere.studies.coverage.synthetic.drawing import draw_table
from adhere.studies.coverage.synthetic.patients import Trial
from adhere.studies.coverage.synthetic.shown import PROMISED, WITHHELD, shown_sets
from adhere.studies.coverage.tally import Tally

LEAST, DOUBTFUL = 0.90, 0.93  # coverage of a set marked 95%: the bar, and below which a trial is run again
_SURE = 0.99  # level of the limit up to which chance explains wrong sentences beyond their level


class SetKind(NamedTuple):
    """Sets of one quantity in one row under one mark; `broken` are assumptions that the row names and that fail."""

    quantity: str
    row: str
    mark: str
    broken: str

    @property
    def is_judged(self) -> bool:
        """Whether the set is marked 95% and everything that its row assumes is true."""
        return self.mark in PROMISED and not self.broken


@dataclass
class ClaimTally:
    """How often a kind of sentence was printed, how often it was wrong, and how often it may be by chance."""

    level: float
    n: int = 0
    n_wrong: int = 0

    def fails(self, n_replications: int) -> bool:
        """Whether it was wrong in more trials than its level and chance explain."""
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
        """Sets marked 95%, their assumptions true, that cover less often than `least`."""
        return [kind for kind, tally in self.sets.items() if kind.is_judged and tally.n_covering < least * tally.n]

    @property
    def wrong_claims(self) -> list[str]:
        """Kinds of sentences that were wrong too often."""
        return [name for name, tally in self.claims.items() if tally.fails(self.n_replications)]

    def add(self, seed: int, replication: int) -> None:
        """Draw one table, analyse it like a user, and count what is shown."""
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
        for claim in claims(analysis, trial):  # a kind counts once in a replication
            wrong, _ = printed.get(claim.kind, (False, 0.0))
            printed[claim.kind] = (wrong or claim.wrong, claim.level)
        for name, (wrong, level) in printed.items():
            tally = self.claims.setdefault(name, ClaimTally(level))
            tally.n += 1
            tally.n_wrong += wrong


def count_trial(trial: Trial, n_replications: int, seed: int = 0) -> TrialCount:
    """Count over replications, which the seed and their numbers determine."""
    counted = TrialCount(trial)
    for replication in range(n_replications):
        counted.add(seed, replication)
    return counted
