"""What the paper says of trials of twelve patients, and the sentences that say what we find."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adhere.report.numbers import estimate_texts
from adhere.report.section import AGREES, DIFFERS, IN_PART, Claim
from adhere.simulation import Estimate
from adhere.studies.lineup import ALL, BOUNDED, LEARNERS
from adhere.studies.outcome_tables import estimate_in
from adhere.studies.wording import ends, listed

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

    def of(self, reading: str, learner: str = AVERAGE, strategy: str = AVERAGE, size: int | None = None) -> Estimate:
        """A gain over Chosen of the same learner, or an average of several."""
        where = {"population": reading, "learner": learner, "strategy": strategy}
        return estimate_in(self._gains, n_runs=size or self.size, **where)

    def best(self, reading: str) -> tuple[str, Estimate]:
        """The policy with the highest surplus."""
        its = self.final.filter(n_runs=self.size, population=reading, measure="surplus")
        row = its.sort("mean", descending=True, maintain_order=True).row(0, named=True)
        return f"{row['learner']} under {row['label']}", estimate_in(its, policy=row["policy"])


def asked(gains: Gains) -> str:
    """What the study asks."""
    return (
        f"In trials of {gains.n_patients} patients, does noncompliance information improve on Chosen on average, as "
        "the paper remarks? What a non-complier takes it does not say; a comment in its LaTeX source speaks of "
        "noncompliance “independent of everything” and “towards the higher expectation treatment”. We "
        f"try the other arm, either arm and the better arm: {len(ALL)} policies, "
        f"{' and '.join(f'{size:,}' for size in gains.sizes)} simulations, rewards and compliance "
        "drawn uniformly for each."
    )


def found(gains: Gains) -> str:
    """What was found."""
    return (
        f"It does {_where(gains)}. “On average” is most simply over simulations; averaged over Actual, Comply, both "
        f"hybrids and four learners too, the gain over the same learner's Chosen in rewards per trial is "
        f"{_averages(gains)}; {_apart(gains)}. Without {BOUNDED}, which has a Thompson sampler inside whatever its "
        f"learner, it is {_in_order(gains, AVERAGE_BUT_BOUNDED)}: the remark then holds "
        f"{_where(gains, AVERAGE_BUT_BOUNDED)}. {_best(gains)}."
    )


def how_sure(gains: Gains) -> str:
    """How sure we are."""
    few, many = gains.sizes[0], gains.size
    return (
        f"From {many:,} simulations. Gains are paired on the same patients; an average's 95% interval is wide "
        f"enough for any correlation among its parts. With {_few(few)} the averages are "
        f"{_in_order(gains, AVERAGE, few)}: the remark holds {_where(gains, AVERAGE, few)}."
    )


def claim(gains: Gains) -> Claim:
    """The remark on Figure 3."""
    n_hold = len(_holding(gains, AVERAGE, gains.size))
    few = gains.sizes[0]
    return Claim(
        f"In trials of {gains.n_patients} patients, noncompliance information improves on Chosen on average "
        "(Figure 3)",
        "“there is on average an improvement from taking the noncompliance information into account”",
        f"Gain in rewards per trial, averaged over policies too: {_averages(gains)} ({gains.size:,} simulations); "
        f"with {_few(few)} {_in_order(gains, AVERAGE, few)}",
        AGREES if n_hold == len(READINGS) else IN_PART if n_hold else DIFFERS,
    )


def _holding(gains: Gains, strategy: str, size: int) -> list[str]:
    """The readings under which the gain, averaged over learners too, is above zero beyond chance."""
    return [reading for reading in READINGS if ends(gains.of(reading, strategy=strategy, size=size))[0] > 0]


def _where(gains: Gains, strategy: str = AVERAGE, size: int | None = None) -> str:
    titles = [READINGS[reading] for reading in _holding(gains, strategy, size or gains.size)]
    if len(titles) == len(READINGS):
        return "under all three readings"
    return f"only if non-compliers take {' or '.join(titles)}" if titles else "under none of the readings"


def _averages(gains: Gains) -> str:
    """The gain under each reading, averaged over strategies and learners."""
    texts = estimate_texts([gains.of(reading) for reading in READINGS], sign="+")
    return listed([f"{text} with {title}" for title, text in zip(READINGS.values(), texts, strict=True)])


def _in_order(gains: Gains, strategy: str, size: int | None = None) -> str:
    """The same for other strategies or in another size, without saying again which is which."""
    return listed(estimate_texts([gains.of(one, strategy=strategy, size=size) for one in READINGS], sign="+"))


def _few(size: int) -> str:
    return f"{size:,} simulations, as in the paper," if size == PAPERS_RUNS else f"{size:,} simulations"


def _apart(gains: Gains) -> str:
    """Under which reading learners differ most, and by how much."""
    ranked = {
        reading: sorted([(gains.of(reading, learner), learner) for learner in LEARNERS], key=lambda one: one[0].mean)
        for reading in READINGS
    }
    reading = max(READINGS, key=lambda one: ranked[one][-1][0].mean - ranked[one][0][0].mean)
    (lowest, worst), (highest, best) = ranked[reading][0], ranked[reading][-1]
    texts = estimate_texts([lowest, highest], sign="+")
    return f"learners differ most with {READINGS[reading]}, from {texts[0]} ({worst}) to {texts[1]} ({best})"


def _best(gains: Gains) -> str:
    """The policy with the highest surplus under each reading, each named once."""
    best = {reading: gains.best(reading) for reading in READINGS}
    texts = dict(zip(READINGS, estimate_texts([surplus for _, surplus in best.values()]), strict=True))
    where: dict[str, list[str]] = {}
    for reading, (name, _) in best.items():
        where.setdefault(name, []).append(f"{READINGS[reading]} ({texts[reading]})")
    return "Best is " + ", and ".join(f"{name} if they take {' or '.join(its)}" for name, its in where.items())
