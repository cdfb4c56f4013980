"""What the paper says of trials of twelve patients, and the sentences that say what we find."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adhere.report.numbers import estimate_texts
from adhere.report.section import AGREES, DIFFERS, IN_PART, Claim
from adhere.simulation import Estimate
from adhere.studies.lineup import ALL, BOUNDED, LEARNERS, STRATEGIES
from adhere.studies.outcome_tables import estimate_in
from adhere.studies.synthetic_claims import ends, listed

if TYPE_CHECKING:
    from adhere.studies.study import Tables

PAPERS_RUNS = 1000
READINGS = {"uniform-other": "the other arm", "uniform-any": "either arm", "uniform-corrective": "the better arm"}
AVERAGE, AVERAGE_BUT_BOUNDED = "average", f"average without {BOUNDED}"


class Gains:
    """The final figures and the gains over Chosen, in the larger size unless another is asked for."""

    def __init__(self, tables: Tables) -> None:
        self.final, self._gains = tables["final"], tables["gains"]
        self.sizes = sorted(set(self.final["n_runs"].to_list()))
        self.size = self.sizes[-1]
        self.n_patients = int(self.final["n_patients"][0])
        self.in_size = self._gains.filter(n_runs=self.size)

    def of(self, reading: str, learner: str = AVERAGE, strategy: str = AVERAGE) -> Estimate:
        """A gain over Chosen of the same learner, or an average of several."""
        return estimate_in(self.in_size, population=reading, learner=learner, strategy=strategy)

    def best(self, reading: str) -> tuple[str, Estimate]:
        """The policy with the highest surplus."""
        its = self.final.filter(n_runs=self.size, population=reading, measure="surplus")
        row = its.sort("mean", descending=True, maintain_order=True).row(0, named=True)
        return f"{row['learner']} under {row['label']}", estimate_in(its, policy=row["policy"])

    def n_clear(self, size: int) -> tuple[int, int]:
        """How many gains, averages aside, are above or below zero beyond chance, and of how many."""
        its = self._gains.filter(n_runs=size).to_dicts()
        its = [row for row in its if row["learner"] in LEARNERS and row["strategy"] in STRATEGIES]
        return sum(row["lo"] > 0 or row["hi"] < 0 for row in its), len(its)

    def half_widths(self, size: int) -> tuple[float, float]:
        """The narrowest and the widest interval of a surplus, to either side."""
        its = self.final.filter(n_runs=size, measure="surplus")
        halves = [row["hi"] - row["mean"] for row in its.to_dicts()]
        return min(halves), max(halves)


def asked(gains: Gains) -> str:
    """What the study asks."""
    return (
        f"In trials of {gains.n_patients} patients, does noncompliance information improve on Chosen on average, as "
        "the paper remarks? Rewards and compliance are drawn uniformly for each simulation. What a non-complier "
        "takes the paper does not say: we try the other arm, either arm at random, and the better arm. "
        f"{len(ALL)} policies, {' and '.join(f'{size:,}' for size in gains.sizes)} simulations."
    )


def found(gains: Gains) -> str:
    """What was found."""
    without = estimate_texts([gains.of(reading, strategy=AVERAGE_BUT_BOUNDED) for reading in READINGS], sign="+")
    best = [gains.best(reading) for reading in READINGS]
    texts = estimate_texts([surplus for _, surplus in best])
    return (
        f"It improves on it {_where(gains)}. Gain over the same learner's Chosen in rewards per trial, averaged over "
        f"Actual, Comply, both hybrids and four learners: {_averages(gains)}. {BOUNDED} has a Thompson sampler "
        f"inside whatever its learner, so its gains need not be due to compliance; without it, {listed(without)}: "
        f"the remark then holds {_where(gains, AVERAGE_BUT_BOUNDED)}. The best policies are, in this order, "
        f"{listed([f'{name} ({text})' for (name, _), text in zip(best, texts, strict=True)])}."
    )


def how_sure(gains: Gains) -> str:
    """How sure we are."""
    few, many = gains.sizes[0], gains.size
    smaller = f"{few:,} simulations, as in the paper," if few == PAPERS_RUNS else f"{few:,} simulations"
    n_few, of = gains.n_clear(few)
    return (
        "Gains are paired on the same patients; an average's interval is wide enough for any correlation among its "
        f"parts. With {smaller} the 95% interval of a surplus reaches {_reach(gains, few)} to "
        f"either side, and {n_few} of {of} gains are told from zero; with {many:,}, {_reach(gains, many)}, and "
        f"{gains.n_clear(many)[0]}."
    )


def claim(gains: Gains) -> Claim:
    """The remark on Figure 3."""
    n_hold = len(_holding(gains, AVERAGE))
    return Claim(
        f"In trials of {gains.n_patients} patients, noncompliance information improves on Chosen on average "
        "(Figure 3)",
        "an improvement; what non-compliers take is not said",
        f"Average gain in rewards per trial: {_averages(gains)}; {gains.size:,} simulations",
        AGREES if n_hold == len(READINGS) else IN_PART if n_hold else DIFFERS,
    )


def _holding(gains: Gains, strategy: str) -> list[str]:
    """The readings under which the gain, averaged over learners too, is above zero beyond chance."""
    return [reading for reading in READINGS if ends(gains.of(reading, strategy=strategy))[0] > 0]


def _where(gains: Gains, strategy: str = AVERAGE) -> str:
    titles = [READINGS[reading] for reading in _holding(gains, strategy)]
    if len(titles) == len(READINGS):
        return "under all three readings"
    return f"only if non-compliers take {' or '.join(titles)}" if titles else "under none of the readings"


def _averages(gains: Gains) -> str:
    """The gain under each reading, averaged over strategies and learners, and which learners have it."""
    texts = estimate_texts([gains.of(reading) for reading in READINGS], sign="+")
    titles = zip(READINGS.items(), texts, strict=True)
    return "; ".join(f"{text} with {title} ({_learners(gains, reading)})" for (reading, title), text in titles)


def _learners(gains: Gains, reading: str) -> str:
    """Which learners gain and which lose, averaged over strategies, beyond chance."""
    intervals = {learner: ends(gains.of(reading, learner)) for learner in LEARNERS}
    up = [learner for learner, (lo, _) in intervals.items() if lo > 0]
    down = [learner for learner, (_, hi) in intervals.items() if hi < 0]
    if len(LEARNERS) in (len(up), len(down)):
        return "every learner gains" if up else "every learner loses"
    parts = [f"{listed(those)} {word}" for those, word in ((up, "up"), (down, "down")) if those]
    return ", ".join(parts) or "no learner up or down beyond chance"


def _reach(gains: Gains, size: int) -> str:
    least, most = (f"{half:.2g}" for half in gains.half_widths(size))
    return least if least == most else f"{least} to {most}"
