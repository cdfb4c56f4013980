"""The paper's claim on trials of twelve patients, and sentences on what the study found."""

from __future__ import annotations

from adhere.report.numbers import estimate_texts
from adhere.report.section import Claim, verdict_on
from adhere.studies.framework.words import ends, listed
from adhere.studies.lineup.entries import ALL, BOUNDED, LEARNERS
from adhere.studies.small_trials.experiments import PAPERS_RUNS, READINGS
from adhere.studies.small_trials.tables import AVERAGE, AVERAGE_BUT_BOUNDED, Facts


def question(facts: Facts) -> str:
    """The question of the study."""
    return (
        f"In trials of {facts.n_patients} patients, does compliance information improve on Chosen on average, as the "
        "paper remarks of its Figure 3?"
    )


def result(facts: Facts) -> str:
    """The result."""
    gains = estimate_texts([facts.of(reading) for reading in READINGS], sign="+", intervals=False)
    parts = [f"{gain} with {title}" for title, gain in zip(READINGS.values(), gains, strict=True)]
    said = listed([parts[0].replace(" with", " per trial with"), *parts[1:]])
    return f"Averaged over learners and strategies, compliance information gains rewards {_where(facts)}: {said}."


def uncertainty(facts: Facts) -> str:
    """The uncertainty of the result."""
    few = facts.sizes[0]
    return (
        f"From {facts.size:,} simulations. Gains are paired on the same patients; an average's 95% interval is wide "
        f"enough for any correlation among its parts. With {_few(few)} the remark holds "
        f"{_where(facts, AVERAGE, few)}."
    )


def details(facts: Facts) -> list[str]:
    """How it was done, and what else was found."""
    return [
        f"{len(ALL)} policies, {' and '.join(f'{size:,}' for size in facts.sizes)} simulations, each with mean "
        "rewards and compliance drawn uniformly from 0 to 1. What a patient who does not comply takes, the paper "
        "does not say (a comment in its LaTeX source speaks of noncompliance “independent of everything” and "
        "“towards the higher expectation treatment”): we try the other arm, either arm and the better arm.",
        "“On average” is read here as over simulations, over Actual, Comply and both hybrids, and over four "
        f"learners, each against its own Chosen. Without {BOUNDED}, which has a Thompson sampler inside whatever its "
        f"learner, the remark holds {_where(facts, AVERAGE_BUT_BOUNDED)}.",
        f"{_apart(facts)}. {_best(facts)}.",
    ]


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
        reading: sorted([(facts.of(reading, learner).mean, learner) for learner in LEARNERS]) for reading in READINGS
    }
    reading = max(READINGS, key=lambda one: ranked[one][-1][0] - ranked[one][0][0])
    (lowest, worst), (highest, best) = ranked[reading][0], ranked[reading][-1]
    return (
        f"Learners differ most with {READINGS[reading]}: from {lowest:+.2f} rewards per trial ({worst}) to "
        f"{highest:+.2f} ({best})"
    )


def _best(facts: Facts) -> str:
    """The policy with the highest surplus under each reading, each named once."""
    where: dict[str, list[str]] = {}
    for reading, title in READINGS.items():
        name, surplus = facts.best(reading)
        where.setdefault(name, []).append(f"{title} (surplus {surplus.mean:.2f})")
    return "Best is " + ", and ".join(f"{name} if they take {' or '.join(its)}" for name, its in where.items())
