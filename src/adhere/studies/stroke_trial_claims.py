"""What the paper says of the stroke trial, and the sentences that say what we find."""

from __future__ import annotations

from collections.abc import Sequence
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


def in_size(tables: Tables, one: Entry, n_runs: int, measure: str = "surplus", population: str = POOLED) -> Estimate:
    """A headline policy's surplus at one of the two numbers of runs."""
    where = {"policy": one.policy, "population": population, "measure": measure, "n_runs": n_runs}
    return estimate_in(tables["headline"], **where)


def text(one: Estimate, digits: int = 1) -> str:
    """A mean with its interval, to as many decimals as the paper prints."""
    numbers = (one.mean, one.lo, one.hi)
    mean, lo, hi = (None if number is None else f"{round(number, digits) + 0.0:.{digits}f}" for number in numbers)
    return f"{mean}" if lo is None or hi is None else f"{mean} [{lo}, {hi}]"


def verdict(published: Published, ours: Estimate) -> str:
    """Whether a figure agrees with the paper's."""
    return AGREES if published.agrees_with(ours) else DIFFERS


def verdict_and_place(published: Published, ours: Estimate) -> str:
    """The verdict, and whether our figure lies inside the paper's interval."""
    return f"{verdict(published, ours)}, {'inside' if published.holds(ours) else 'outside'}"


def asked(tables: Tables) -> str:
    """What the study asks."""
    few, many = sizes(tables)
    n_patients = int(tables["final"]["n_patients"][0])
    return (
        f"How many more of {n_patients:,} patients would live, were they told what a policy recommends, than under "
        "uniform randomisation? Patients are resampled from the International Stroke Trial as in section 5 of the "
        "paper: four learners under three protocols and two hybrids, on aspirin, on heparin and on the mean of both, "
        f"{few:,} runs each; the three policies of the paper's text in {many:,} runs, which contain the {few:,}. The "
        "paper names neither the learner inside ThompsonBounded nor whether its figures use recycling: we take "
        "ε-greedy in both hybrids and recycling in ThompsonBounded only, and show the rest."
    )


def found(tables: Tables) -> str:
    """What was found."""
    few, many = sizes(tables)
    final = tables["final"]
    figures = {one: in_size(tables, one, few) for one in HEADLINES}
    listed = "; ".join(
        f"{NAMES[one]} {text(figures[one])} (paper {published})" for one, published in HEADLINE_FIGURES.items()
    )
    agree = {
        n: [NAMES[one] for one, p in HEADLINE_FIGURES.items() if p.agrees_with(in_size(tables, one, n))]
        for n in (few, many)
    }
    return (
        f"Pooled surplus lives: {listed}. {_how_many(agree[few], few)} by the rule below, "
        f"{_how_many(agree[many], many).lower()}. ThompsonBounded depends on its reading: {_readings(final)}. "
        f"Against Thompson sampling on the same patients the hybrids gain: {_gains_listed(final)}. Thompson sampling "
        "under Actual reaches "
        f"{text(surplus(final, entry(THOMPSON, ACTUAL)))}, but without a guarantee; EXP3 under Actual is at "
        f"{text(surplus(final, entry(EXP3, ACTUAL)))}."
    )


def how_sure(tables: Tables) -> str:
    """How sure we are."""
    few, many = sizes(tables)
    realised = [
        f"{NAMES[one]} {text(in_size(tables, one, n, 'realised_surplus'), 2)} in {n:,} runs"
        for one, published in HEADLINE_FIGURES.items()
        for n in (few, many)
        if not published.agrees_with(in_size(tables, one, n, "realised_surplus"))
    ]
    differs = f"by it these differ: {'; '.join(realised)}" if realised else "by it all three agree in both sizes"
    return (
        "All intervals are 95% and Monte Carlo only. Verdicts are on the surplus expected given the arms chosen; "
        f"realised surplus, which the paper plots, has the same mean and a wider spread; {differs}. The seed and "
        "settings stand in the study's file and no other seed was tried. That ThompsonBounded recycles was chosen "
        "after seeing results, to come near the paper's figure. γ = 0.0085 is run where the paper's lines depend on "
        "it: for EXP3, for HierarchicalBandit on EXP3 and ε-greedy, and for ThompsonBounded on ε-greedy."
    )


def claims(tables: Tables) -> list[Claim]:
    """The paper's figures and its remarks on them."""
    few, many = sizes(tables)
    final = tables["final"]
    numbers = []
    for one, published in HEADLINE_FIGURES.items():
        by_size = {n: in_size(tables, one, n) for n in (few, many)}
        ours = "; ".join(
            f"{text(figure, digits)} in {n:,} runs ({verdict_and_place(published, figure)})"
            for (n, figure), digits in zip(by_size.items(), (1, 2), strict=True)
        )
        if one.strategy == BOUNDED:
            ours += f". Our setting was chosen after seeing results: {_readings(final, published)}"
        statement = f"{NAMES[one]}: surplus lives, both trials pooled"
        numbers.append(Claim(statement, str(published), ours, verdict(published, by_size[few])))
    remarks = [_hybrids_gain(final), _best_is_thompson(final), *_protocols_beat(final)]
    return [*numbers, *remarks, _gain_is_in_aspirin(tables), _exp3_fails(final)]


def _how_many(names: Sequence[str], n_runs: int) -> str:
    if len(names) == len(NAMES):
        return f"In {n_runs:,} runs all three agree"
    return f"In {n_runs:,} runs {' and '.join(names) or 'none'} agree{'s' if len(names) < 2 else ''}"


def _readings(final: polars.DataFrame, published: Published | None = None) -> str:
    """ThompsonBounded on ε-greedy in its other readings, and whether each agrees with the paper's figure."""
    said = {LITERAL: "as written", PLAIN: "with all experts learning from every round"}
    figures = {words: surplus(final, entry(GREEDY, BOUNDED, variant)) for variant, words in said.items()}
    if published is None:
        figures["with recycling too"] = surplus(final, HEADLINES[1])
    verdicts = {words: f" ({verdict(published, one)})" if published else "" for words, one in figures.items()}
    return ", ".join(f"{words} {text(one)}{verdicts[words]}" for words, one in figures.items())


_HYBRIDS = {
    "HierarchicalBandit on ε-greedy": HEADLINES[2],
    "ThompsonBounded with recycling": HEADLINES[1],
    "with all experts learning": entry(GREEDY, BOUNDED),
    "as written": entry(GREEDY, BOUNDED, LITERAL),
}


def _gains(final: polars.DataFrame) -> dict[str, Estimate]:
    """What hybrids gain over Thompson sampling on the same patients."""
    return {words: surplus(final, one, measure="difference") for words, one in _HYBRIDS.items()}


def _gains_listed(final: polars.DataFrame) -> str:
    gains = _gains(final)
    texts = estimate_texts(list(gains.values()), sign="+")
    return ", ".join(f"{words} {gain}" for words, gain in zip(gains, texts, strict=True))


def _hybrids_gain(final: polars.DataFrame) -> Claim:
    above = [one.lo is not None and one.lo > 0 for one in _gains(final).values()]
    return Claim(
        "The hybrids “empirically outperform algorithms running the Chosen protocol” (section 3)",
        "8.9 and 9.2 against 7.9",
        f"Lives gained over Thompson sampling on the same patients: {_gains_listed(final)}",
        AGREES if all(above) else IN_PART if any(above) else DIFFERS,
    )


def _best_is_thompson(final: polars.DataFrame) -> Claim:
    ranked = sorted((entry(learner, CHOSEN) for learner in LEARNERS), key=lambda one: -surplus(final, one).mean)
    rival = next(one for one in ranked if one.learner != THOMPSON)
    gap = surplus(final, rival, measure="difference")
    better, worse = (gap.lo is not None and gap.lo > 0), (gap.hi is not None and gap.hi < 0)
    return Claim(
        "“The best performing strategy that is not compliance aware is Thompson sampling”",
        "Thompson sampling",
        ", ".join(f"{one.learner} {text(surplus(final, one))}" for one in ranked)
        + f"; {rival.learner} minus Thompson on the same patients {estimate_texts([gap], sign='+')[0]}",
        DIFFERS if better else AGREES if worse else IN_PART,
    )


def _protocols_beat(final: polars.DataFrame) -> list[Claim]:
    """Actual, and less so Comply, against Chosen and both hybrids of the same learner."""
    made = []
    for strategy, words in ((ACTUAL, "“better”"), (COMPLY, "“to a lesser extent”")):
        told = []
        won = {}
        for learner in LEARNERS:
            own = surplus(final, entry(learner, strategy))
            rivals = [entry(learner, CHOSEN), entry(learner, HIERARCHICAL), entry(learner, BOUNDED, RECYCLING)]
            won[learner] = sum(is_above(own, surplus(final, rival)) for rival in rivals)
            told.append(f"{learner} {text(own)}, above {won[learner]} of {len(rivals)}")
        holds = [won[learner] == 3 for learner in (THOMPSON, GREEDY)]
        made.append(
            Claim(
                f"{strategy} performs better than Chosen and the hybrids (here HierarchicalBandit, and "
                "ThompsonBounded with recycling); Thompson and ε-greedy are judged",
                words,
                "; ".join(told),
                AGREES if all(holds) else IN_PART if won[THOMPSON] + won[GREEDY] else DIFFERS,
            )
        )
    return made


def _gain_is_in_aspirin(tables: Tables) -> Claim:
    _, many = sizes(tables)
    hybrids = HEADLINES[1:]
    gains = {
        (one, trial): in_size(tables, one, many, "difference", trial)
        for one in hybrids
        for trial in (ASPIRIN, HEPARIN)
    }
    larger = [gains[one, ASPIRIN].mean > gains[one, HEPARIN].mean for one in hybrids]
    clear = [is_above(gains[one, ASPIRIN], gains[one, HEPARIN]) for one in hybrids]
    texts = estimate_texts(list(gains.values()), sign="+")
    ours = "; ".join(
        f"{NAMES[one]} {texts[2 * i]} on aspirin, {texts[2 * i + 1]} on heparin" for i, one in enumerate(hybrids)
    )
    return Claim(
        "The hybrids' gains over Thompson sampling “are largely concentrated in the Aspirin trial”",
        "aspirin",
        f"{ours} ({many:,} runs)",
        AGREES if all(clear) else IN_PART if any(larger) else DIFFERS,
    )


def _exp3_fails(final: polars.DataFrame) -> Claim:
    figures = {one.label: surplus(final, one) for one in (entry(EXP3, ACTUAL), entry(EXP3, COMPLY))}
    below = [figure.hi is not None and figure.hi < 0 for figure in figures.values()]
    return Claim(
        "EXP3 does worse than uniform randomisation under Actual and Comply (a comment in the paper's LaTeX source, "
        "not in print)",
        "“extremely badly”",
        ", ".join(f"{name} {text(figure)}" for name, figure in figures.items()),
        AGREES if all(below) else IN_PART if any(below) else DIFFERS,
    )
