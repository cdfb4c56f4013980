"""The paper's claims on the stroke trial, and sentences on what the study found."""

from __future__ import annotations

from adhere.report.numbers import estimate_texts
from adhere.report.section import AGREES, DIFFERS, IN_PART, Claim, verdict_on
from adhere.simulation import Estimate
from adhere.studies.lineup.entries import (
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
    entry,
)  # fmt: skip
from adhere.studies.lineup.tables import is_above
from adhere.studies.stroke_trial.experiments import TRIALS
from adhere.studies.stroke_trial.published import HEADLINE_FIGURES, NAMES, Published
from adhere.studies.stroke_trial.tables import Facts, text


def question(facts: Facts) -> str:
    """The question of the study."""
    few, many = facts.few, facts.many
    return (
        f"How many more of {facts.n_patients:,} patients would live, were they told what a policy recommends, than "
        "under uniform randomisation? Patients are resampled from the International Stroke Trial as in section 5 of "
        "the paper: four learners under three protocols and two hybrids, on aspirin, on heparin and on the mean of "
        f"both, {few:,} runs each; the three policies of the paper's text in {many:,} runs, which contain the "
        f"{few:,}. The paper names neither the learner inside ThompsonBounded nor whether its figures use recycling: "
        "we take ε-greedy in both hybrids and recycling in ThompsonBounded only, and show the rest."
    )


def result(facts: Facts) -> str:
    """The result."""
    few, many = facts.few, facts.many
    listed = "; ".join(
        f"{NAMES[one]} {text(facts.surplus(one, n_runs=few))} (paper {published})"
        for one, published in HEADLINE_FIGURES.items()
    )
    return (
        f"Pooled surplus lives: {listed}. {_how_many_agree(facts, few)} by the rule below, "
        f"{_how_many_agree(facts, many).lower()}. ThompsonBounded depends on its reading: {_readings(facts)}. "
        f"Against Thompson sampling on the same patients the hybrids gain: {_gains_listed(facts)}. Thompson sampling "
        "under Actual reaches "
        f"{text(facts.surplus(entry(THOMPSON, ACTUAL)))}, but without a guarantee; EXP3 under Actual is at "
        f"{text(facts.surplus(entry(EXP3, ACTUAL)))}."
    )


def uncertainty(facts: Facts) -> str:
    """The uncertainty of the result."""
    realised = [
        f"{NAMES[one]} {text(ours, 2)} in {n:,} runs"
        for one, published in HEADLINE_FIGURES.items()
        for n in (facts.few, facts.many)
        if not published.agrees_with(ours := facts.surplus(one, measure="realised_surplus", n_runs=n))
    ]
    differs = f"by it these differ: {'; '.join(realised)}" if realised else "by it all three agree in both sizes"
    return (
        "All intervals are 95% and Monte Carlo only. Verdicts are on the surplus expected given the arms chosen; "
        f"realised surplus, which the paper plots, has the same mean and a wider spread; {differs}. The seed and "
        "settings stand in the study's file and no other seed was tried. That ThompsonBounded recycles was chosen "
        "after seeing results, to come near the paper's figure. γ = 0.0085 is run where the paper's lines depend on "
        "it: for EXP3, for HierarchicalBandit on EXP3 and ε-greedy, and for ThompsonBounded on ε-greedy."
    )


def make_claims(facts: Facts) -> list[Claim]:
    """The paper's figures and its remarks on them."""
    numbers = []
    for one, published in HEADLINE_FIGURES.items():
        few, many = (facts.surplus(one, n_runs=n) for n in (facts.few, facts.many))
        ours = (
            f"{text(few)} in {facts.few:,} runs ({published.verdict_and_place(few)}); "
            f"{text(many, 2)} in {facts.many:,} runs ({published.verdict_and_place(many)})"
        )
        if one.strategy == BOUNDED:
            ours += f". Our setting was chosen after seeing results: {_readings(facts, published)}"
        statement = f"{NAMES[one]}: surplus lives, both trials pooled"
        numbers.append(Claim(statement, str(published), ours, published.verdict(few)))
    return [
        *numbers,
        _hybrids_gain(facts),
        _best_is_thompson(facts),
        _protocol_beats(facts, ACTUAL, "“better”"),
        _protocol_beats(facts, COMPLY, "“to a lesser extent”"),
        _gain_is_in_aspirin(facts),
        _exp3_fails(facts),
    ]


def _how_many_agree(facts: Facts, n_runs: int) -> str:
    figures = HEADLINE_FIGURES.items()
    names = [NAMES[one] for one, paper in figures if paper.agrees_with(facts.surplus(one, n_runs=n_runs))]
    if len(names) == len(NAMES):
        return f"In {n_runs:,} runs all three agree"
    return f"In {n_runs:,} runs {' and '.join(names) or 'none'} agree{'s' if len(names) < 2 else ''}"


def _readings(facts: Facts, published: Published | None = None) -> str:
    """ThompsonBounded on ε-greedy in its other readings, and whether each agrees with the paper's figure."""
    said = {LITERAL: "as written", PLAIN: "with all experts learning from every round"}
    figures = {words: facts.surplus(entry(GREEDY, BOUNDED, variant)) for variant, words in said.items()}
    if published is None:
        figures["with recycling too"] = facts.surplus(HEADLINES[1])
    verdicts = {words: f" ({published.verdict(one)})" if published else "" for words, one in figures.items()}
    return ", ".join(f"{words} {text(one)}{verdicts[words]}" for words, one in figures.items())


_HYBRIDS = {
    "HierarchicalBandit on ε-greedy": HEADLINES[2],
    "ThompsonBounded with recycling": HEADLINES[1],
    "with all experts learning": entry(GREEDY, BOUNDED),
    "as written": entry(GREEDY, BOUNDED, LITERAL),
}


def _gains(facts: Facts) -> dict[str, Estimate]:
    """What hybrids gain over Thompson sampling on the same patients."""
    return {words: facts.surplus(one, measure="difference") for words, one in _HYBRIDS.items()}


def _gains_listed(facts: Facts) -> str:
    gains = _gains(facts)
    texts = estimate_texts(list(gains.values()), sign="+")
    return ", ".join(f"{words} {gain}" for words, gain in zip(gains, texts, strict=True))


def _hybrids_gain(facts: Facts) -> Claim:
    above = [one.lo is not None and one.lo > 0 for one in _gains(facts).values()]
    return Claim(
        "The hybrids “empirically outperform algorithms running the Chosen protocol” (section 3)",
        "8.9 and 9.2 against 7.9",
        f"Lives gained over Thompson sampling on the same patients: {_gains_listed(facts)}",
        verdict_on(above),
    )


def _best_is_thompson(facts: Facts) -> Claim:
    ranked = sorted((entry(learner, CHOSEN) for learner in LEARNERS), key=lambda one: -facts.surplus(one).mean)
    rival = next(one for one in ranked if one.learner != THOMPSON)
    gap = facts.surplus(rival, measure="difference")
    better, worse = (gap.lo is not None and gap.lo > 0), (gap.hi is not None and gap.hi < 0)
    return Claim(
        "“The best performing strategy that is not compliance aware is Thompson sampling”",
        "Thompson sampling",
        ", ".join(f"{one.learner} {text(facts.surplus(one))}" for one in ranked)
        + f"; {rival.learner} minus Thompson on the same patients {estimate_texts([gap], sign='+')[0]}",
        DIFFERS if better else AGREES if worse else IN_PART,
    )


def _protocol_beats(facts: Facts, strategy: str, words: str) -> Claim:
    """Actual, or Comply, against Chosen and both hybrids of the same learner."""
    texts, won = [], {}
    for learner in LEARNERS:
        own = facts.surplus(entry(learner, strategy))
        rivals = [entry(learner, CHOSEN), entry(learner, HIERARCHICAL), entry(learner, BOUNDED, RECYCLING)]
        won[learner] = sum(is_above(own, facts.surplus(rival)) for rival in rivals)
        texts.append(f"{learner} {text(own)}, above {won[learner]} of {len(rivals)}")
    judged = won[THOMPSON], won[GREEDY]
    return Claim(
        f"{strategy} performs better than Chosen and the hybrids (here HierarchicalBandit, and "
        "ThompsonBounded with recycling); Thompson and ε-greedy are judged",
        words,
        "; ".join(texts),
        AGREES if judged == (3, 3) else IN_PART if any(judged) else DIFFERS,
    )


def _gain_is_in_aspirin(facts: Facts) -> Claim:
    hybrids = HEADLINES[1:]
    pairs = [[facts.surplus(one, trial, "difference", facts.many) for trial in TRIALS] for one in hybrids]
    texts = iter(estimate_texts([gain for pair in pairs for gain in pair], sign="+"))
    ours = "; ".join(f"{NAMES[one]} {next(texts)} on aspirin, {next(texts)} on heparin" for one in hybrids)
    larger = [aspirin.mean > heparin.mean for aspirin, heparin in pairs]
    return Claim(
        "The hybrids' gains over Thompson sampling “are largely concentrated in the Aspirin trial”",
        "aspirin",
        f"{ours} ({facts.many:,} runs)",
        AGREES if all(is_above(*pair) for pair in pairs) else IN_PART if any(larger) else DIFFERS,
    )


def _exp3_fails(facts: Facts) -> Claim:
    figures = {one.label: facts.surplus(one) for one in (entry(EXP3, ACTUAL), entry(EXP3, COMPLY))}
    below = [figure.hi is not None and figure.hi < 0 for figure in figures.values()]
    return Claim(
        "EXP3 does worse than uniform randomisation under Actual and Comply (a comment in the paper's LaTeX source, "
        "not in print)",
        "“extremely badly”",
        ", ".join(f"{name} {text(figure)}" for name, figure in figures.items()),
        verdict_on(below),
    )
