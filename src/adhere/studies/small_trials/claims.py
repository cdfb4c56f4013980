"""The paper's claim on trials of twelve patients, and sentences on what the study found."""

from __future__ import annotations

from adhere.report.numbers import estimate_texts
from adhere.report.section import Claim, verdict_on
from adhere.studies.framework.wording import ends, listed
from adhere.studies.lineup.entries import ALL, BOUNDED, LEARNERS
from adhere.studies.small_trials.experiments import PAPERS_RUNS, READINGS
from adhere.studies.small_trials.tables import AVERAGE, AVERAGE_BUT_BOUNDED, Facts


def question(facts: Facts) -> str:
    """The question of the study."""
    return (
        f"In trials of {facts.n_patients} patients, does noncompliance information improve on Chosen on average, as "
        "the paper remarks? What a non-complier takes it does not say; a comment in its LaTeX source speaks of "
        "noncompliance “independent of everything” and “towards the higher expectation treatment”. We "
        f"try the other arm, either arm and the better arm: {len(ALL)} policies, "
        f"{' and '.join(f'{size:,}' for size in facts.sizes)} simulations, rewards and compliance "
        "drawn uniformly for each."
    )


def result(facts: Facts) -> str:
    """The result."""
    return (
        f"It does {_where(facts)}. “On average” is most simply over simulations; averaged over Actual, Comply, both "
        f"hybrids and four learners too, the gain over the same learner's Chosen in rewards per trial is "
        f"{_averages(facts)}; {_apart(facts)}. Without {BOUNDED}, which has a Thompson sampler inside whatever its "
        f"learner, it is {_in_order(facts, AVERAGE_BUT_BOUNDED)}: the remark then holds "
        f"{_where(facts, AVERAGE_BUT_BOUNDED)}. {_best(facts)}."
    )


def uncertainty(facts: Facts) -> str:
    """The uncertainty of the result."""
    few, many = facts.sizes[0], facts.size
    return (
        f"From {many:,} simulations. Gains are paired on the same patients; an average's 95% interval is wide "
        f"enough for any correlation among its parts. With {_few(few)} the averages are "
        f"{_in_order(facts, AVERAGE, few)}: the remark holds {_where(facts, AVERAGE, few)}."
    )


def make_claims(facts: Facts) -> list[Claim]:
    """The remark on Figure 3."""
    holding = _holding(facts, AVERAGE, facts.size)
    few = facts.sizes[0]
    remark = Claim(
        f"In trials of {facts.n_patients} patients, noncompliance information improves on Chosen on average "
        "(Figure 3)",
        "“there is on average an improvement from taking the noncompliance information into account”",
        f"Gain in rewards per trial, averaged over policies too: {_averages(facts)} ({facts.size:,} simulations); "
        f"with {_few(few)} {_in_order(facts, AVERAGE, few)}",
        verdict_on([reading in holding for reading in READINGS]),
    )
    return [remark]


def _holding(facts: Facts, strategy: str, size: int) -> list[str]:
    """The readings under which the gain, averaged over learners too, is above zero beyond chance."""
    return [reading for reading in READINGS if ends(facts.of(reading, strategy=strategy, size=size))[0] > 0]


def _where(facts: Facts, strategy: str = AVERAGE, size: int | None = None) -> str:
    titles = [READINGS[reading] for reading in _holding(facts, strategy, size or facts.size)]
    if len(titles) == len(READINGS):
        return "under all three readings"
    return f"only if non-compliers take {' or '.join(titles)}" if titles else "under none of the readings"


def _averages(facts: Facts) -> str:
    """The gain under each reading, averaged over strategies and learners."""
    texts = estimate_texts([facts.of(reading) for reading in READINGS], sign="+")
    return listed([f"{text} with {title}" for title, text in zip(READINGS.values(), texts, strict=True)])


def _in_order(facts: Facts, strategy: str, size: int | None = None) -> str:
    """The same for other strategies or in another size, without saying again which is which."""
    return listed(estimate_texts([facts.of(one, strategy=strategy, size=size) for one in READINGS], sign="+"))


def _few(size: int) -> str:
    return f"{size:,} simulations, as in the paper," if size == PAPERS_RUNS else f"{size:,} simulations"


def _apart(facts: Facts) -> str:
    """Under which reading learners differ most, and by how much."""
    ranked = {
        reading: sorted([(facts.of(reading, learner), learner) for learner in LEARNERS], key=lambda one: one[0].mean)
        for reading in READINGS
    }
    reading = max(READINGS, key=lambda one: ranked[one][-1][0].mean - ranked[one][0][0].mean)
    (lowest, worst), (highest, best) = ranked[reading][0], ranked[reading][-1]
    texts = estimate_texts([lowest, highest], sign="+")
    return f"learners differ most with {READINGS[reading]}, from {texts[0]} ({worst}) to {texts[1]} ({best})"


def _best(facts: Facts) -> str:
    """The policy with the highest surplus under each reading, each named once."""
    best = {reading: facts.best(reading) for reading in READINGS}
    texts = dict(zip(READINGS, estimate_texts([surplus for _, surplus in best.values()]), strict=True))
    where: dict[str, list[str]] = {}
    for reading, (name, _) in best.items():
        where.setdefault(name, []).append(f"{READINGS[reading]} ({texts[reading]})")
    return "Best is " + ", and ".join(f"{name} if they take {' or '.join(its)}" for name, its in where.items())
