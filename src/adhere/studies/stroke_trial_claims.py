"""What the paper says of the stroke trial, and the sentences that say what we find."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adhere.report.numbers import estimate_texts
from adhere.report.section import AGREES, DIFFERS, IN_PART, Claim
from adhere.simulation import Estimate
from adhere.simulation.simulate import POOLED
from adhere.studies.lineup import (
    ACTUAL,
    BOUNDED,
    CHOSEN,
    COMPLY,
    EXP3,
    GREEDY,
    HEADLINES,
    HIERARCHICAL,
    LEARNERS,
    LITERAL,
    PLAIN,
    RECYCLING,
    THOMPSON,
    Entry,
    entry,
)  # fmt: skip
from adhere.studies.outcome_tables import estimate_in, is_above
from adhere.studies.published import HEADLINE_FIGURES, Published

if TYPE_CHECKING:
    import polars

    from adhere.studies.study import Tables

ASPIRIN, HEPARIN = "stroke-aspirin", "stroke-heparin"
NAMES = {
    HEADLINES[0]: "Thompson sampling under Chosen",
    HEADLINES[1]: "ThompsonBounded",
    HEADLINES[2]: "HierarchicalBandit on ε-greedy",
}


def surplus(final: polars.DataFrame, one: Entry, population: str = POOLED, measure: str = "surplus") -> Estimate:
    """A policy's surplus on a trial, or pooled."""
    return estimate_in(final, policy=one.policy, population=population, measure=measure)


def sizes(tables: Tables) -> tuple[int, int]:
    """The two numbers of runs, of all policies and of the headline ones again."""
    return int(tables["final"]["n_runs"][0]), int(tables["headline"]["n_runs"].max())  # type: ignore[arg-type]


def in_size(tables: Tables, one: Entry, n_runs: int, measure: str = "surplus") -> Estimate:
    """A headline policy's pooled surplus at one of the two numbers of runs."""
    where = {"policy": one.policy, "population": POOLED, "measure": measure, "n_runs": n_runs}
    return estimate_in(tables["headline"], **where)


def text(one: Estimate, digits: int = 1) -> str:
    """A mean with its interval, to as many decimals as the paper prints."""
    numbers = (one.mean, one.lo, one.hi)
    mean, lo, hi = (None if number is None else f"{round(number, digits) + 0.0:.{digits}f}" for number in numbers)
    return f"{mean}" if lo is None or hi is None else f"{mean} [{lo}, {hi}]"


def verdict(published: Published, ours: Estimate) -> str:
    """Whether a figure agrees with the paper's."""
    return AGREES if published.agrees_with(ours) else DIFFERS


def asked(tables: Tables) -> str:
    """What the study asks."""
    few, many = sizes(tables)
    n_patients = int(tables["final"]["n_patients"][0])
    return (
        f"How many more of {n_patients:,} patients would live, were they told what a policy recommends, than under "
        "uniform randomisation? Patients are resampled from the International Stroke Trial as in section 5 of the "
        "paper: four learners under three protocols and two hybrids, on the aspirin trial, the heparin trial and the "
        f"mean of both, {few:,} runs each; the three policies of the paper's text in {many:,} runs too."
    )


def found(tables: Tables) -> str:
    """What was found."""
    few, _ = sizes(tables)
    final = tables["final"]
    figures = [in_size(tables, one, few) for one in HEADLINES]
    agree = [p.agrees_with(f) for p, f in zip(HEADLINE_FIGURES.values(), figures, strict=True)]
    listed = "; ".join(
        f"{NAMES[one]} {text(figure)} (paper {published})"
        for (one, published), figure in zip(HEADLINE_FIGURES.items(), figures, strict=True)
    )
    literal, plain = (surplus(final, entry(GREEDY, BOUNDED, variant)) for variant in (LITERAL, PLAIN))
    best = _best_compliance_blind(final)
    return (
        f"Pooled surplus lives: {listed}. {_how_many(sum(agree), len(agree))} with the paper by its own interval and "
        f"ours. ThompsonBounded depends on its reading: as written the inner policy learns from its own rounds only "
        f"({text(literal)}); if all its experts learn from every round, {text(plain)}; with recycling too, "
        f"{text(surplus(final, HEADLINES[1]))}. Without compliance information {best.learner} does best "
        f"({text(surplus(final, best))}); Thompson sampling under Actual reaches "
        f"{text(surplus(final, entry(THOMPSON, ACTUAL)))}, but without a guarantee, and EXP3 under Actual is at "
        f"{text(surplus(final, entry(EXP3, ACTUAL)))}."
    )


def how_sure(tables: Tables) -> str:
    """How sure we are."""
    _, many = sizes(tables)
    outside = [
        NAMES[one] for one, published in HEADLINE_FIGURES.items() if not published.holds(in_size(tables, one, many))
    ]
    again = "; ".join(f"{NAMES[one]} {text(in_size(tables, one, many), 2)}" for one in HEADLINES)
    inside = (
        "all three lie inside the paper's intervals"
        if not outside
        else f"outside the paper's interval: {', '.join(outside)}"
    )
    return (
        f"All intervals are 95% and Monte Carlo only. In {many:,} runs: {again}; {inside}. Surplus is expected given "
        "the arms chosen; realised rewards, which the paper plots, have the same mean and a wider spread (table "
        "below). The seed and these settings stand in the study's file and no other seed was tried. That "
        "ThompsonBounded recycles was chosen after seeing results, to come near the paper's figure; all three "
        "readings are shown."
    )


def claims(tables: Tables) -> list[Claim]:
    """The paper's figures and its remarks on them."""
    few, many = sizes(tables)
    final = tables["final"]
    numbers = [
        Claim(
            f"{NAMES[one]}: surplus lives, both trials pooled ({one.policy})",
            str(published),
            f"{text(in_size(tables, one, few))} in {few:,} runs; {text(in_size(tables, one, many), 2)} in {many:,}",
            verdict(published, in_size(tables, one, few)),
        )
        for one, published in HEADLINE_FIGURES.items()
    ]
    return [
        *numbers,
        _best_is_thompson(final),
        *_protocols_beat(final),
        _gain_is_in_aspirin(final),
        _exp3_fails(final),
    ]


def _how_many(agree: int, of: int) -> str:
    return "All agree" if agree == of else f"{agree} of {of} agree" if agree else "None of them agrees"


def _best_compliance_blind(final: polars.DataFrame) -> Entry:
    return max((entry(learner, CHOSEN) for learner in LEARNERS), key=lambda one: surplus(final, one).mean)


def _best_is_thompson(final: polars.DataFrame) -> Claim:
    ranked = sorted((entry(learner, CHOSEN) for learner in LEARNERS), key=lambda one: -surplus(final, one).mean)
    first, second = ranked[:2]
    clear = is_above(surplus(final, first), surplus(final, second))
    return Claim(
        "The best strategy that ignores compliance is Thompson sampling",
        "Thompson",
        ", ".join(f"{one.learner} {text(surplus(final, one))}" for one in ranked),
        DIFFERS
        if first.learner != THOMPSON and clear
        else AGREES
        if first.learner == THOMPSON and clear
        else IN_PART,
    )


def _protocols_beat(final: polars.DataFrame) -> list[Claim]:
    """Actual, and less so Comply, against Chosen and both hybrids of the same learner."""
    found = []
    for strategy in (ACTUAL, COMPLY):
        rivals = {
            learner: [
                entry(learner, CHOSEN),
                entry(learner, HIERARCHICAL),
                entry(learner, BOUNDED, RECYCLING),
            ]
            for learner in (THOMPSON, GREEDY)
        }
        pairs = [(entry(learner, strategy), rival) for learner, others in rivals.items() for rival in others]
        won = sum(is_above(surplus(final, one), surplus(final, rival)) for one, rival in pairs)
        lost = sum(is_above(surplus(final, rival), surplus(final, one)) for one, rival in pairs)
        ours = ", ".join(f"{learner} {text(surplus(final, entry(learner, strategy)))}" for learner in rivals)
        found.append(
            Claim(
                f"{strategy} does better than Chosen and both hybrids (Thompson and ε-greedy)",
                "better" if strategy == ACTUAL else "better, to a lesser extent",
                f"{ours}: above {won} of {len(pairs)} rivals beyond chance, below {lost}",
                AGREES if won == len(pairs) else DIFFERS if lost > won else IN_PART,
            )
        )
    return found


def _gain_is_in_aspirin(final: polars.DataFrame) -> Claim:
    hybrids = HEADLINES[1:]
    gains = {
        (one, trial): surplus(final, one, trial, "difference") for one in hybrids for trial in (ASPIRIN, HEPARIN)
    }
    larger = [gains[one, ASPIRIN].mean > gains[one, HEPARIN].mean for one in hybrids]
    clear = [is_above(gains[one, ASPIRIN], gains[one, HEPARIN]) for one in hybrids]
    texts = estimate_texts(list(gains.values()), sign="+")
    ours = "; ".join(
        f"{NAMES[one]} {texts[2 * i]} on aspirin, {texts[2 * i + 1]} on heparin" for i, one in enumerate(hybrids)
    )
    return Claim(
        "The hybrids' gain over Thompson sampling is largely in the aspirin trial",
        "largely aspirin",
        ours,
        AGREES if all(clear) else IN_PART if any(larger) else DIFFERS,
    )


def _exp3_fails(final: polars.DataFrame) -> Claim:
    figures = {one.label: surplus(final, one) for one in (entry(EXP3, ACTUAL), entry(EXP3, COMPLY))}
    below = [figure.hi is not None and figure.hi < 0 for figure in figures.values()]
    return Claim(
        "EXP3 does worse than uniform randomisation under Actual and Comply (a remark left out of the paper's text)",
        "extremely badly",
        ", ".join(f"{name} {text(figure)}" for name, figure in figures.items()),
        AGREES if all(below) else IN_PART if any(below) else DIFFERS,
    )
