"""The paper's claims on the stroke trial, and sentences on what the study found."""

from __future__ import annotations

from adhere.report.numbers import estimate_texts
from adhere.report.section import AGREES, DIFFERS, IN_PART, Claim, verdict_on
from adhere.simulation import Estimate
from adhere.studies.framework.words import listed
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
from adhere.studies.stroke_trial.tables import Facts, mean, text


def question(facts: Facts) -> str:
    """The question of the study."""
    return (
        f"How many more of {facts.n_patients:,} stroke patients would survive if a policy recommended their "
        "treatment than under uniform randomisation, and is it as many as the paper says?"
    )


def result(facts: Facts) -> str:
    """The result."""
    agreeing = _agreeing(facts, facts.few)
    subject = {0: "No policy", len(NAMES): "All three policies"}.get(len(agreeing), f"Only {' and '.join(agreeing)}")
    verb = "matches the paper's figure" if len(agreeing) < 2 else "match the paper's figures"
    saved = [f"{name} saves {mean(facts.surplus(one, n_runs=facts.few))}" for one, name in NAMES.items()]
    lasting = len(_agreeing(facts, facts.many))
    in_more = f"; in {facts.many:,} runs, {lasting or 'none'} of the three" if lasting != len(agreeing) else ""
    return f"{subject} {verb} within chance{in_more}: {listed([saved[0] + ' lives', *saved[1:]])}."


def uncertainty(facts: Facts) -> str:
    """The uncertainty of the result."""
    return (
        f"Intervals are Monte Carlo: they say how precisely {facts.few:,} runs determine a mean, not how trials or "
        f"patients differ. {_in_more_runs(facts)} ThompsonBounded stands here in a reading that was chosen after "
        f"seeing results, to come near the paper's figure: {_readings(facts)}. The paper plots realised surplus; "
        f"{_realised(facts)}."
    )


def details(facts: Facts) -> list[str]:
    """How it was done, and what else was found."""
    return [
        "Patients are resampled from the International Stroke Trial as in section 5 of the paper: four learners "
        "under three protocols and in two hybrids, on aspirin, on heparin and on the mean of both (pooled), "
        f"{facts.few:,} runs each; the paper's three policies also in {facts.many:,} runs, of which the "
        f"{facts.few:,} are a part.",
        "The paper names neither the learner inside ThompsonBounded nor whether its figures use recycling. We take "
        "ε-greedy in both hybrids and recycling in ThompsonBounded only, and show the others beside them.",
        f"Thompson sampling under Actual saves {mean(facts.surplus(entry(THOMPSON, ACTUAL)))} lives, but nothing "
        "guarantees that it does: see the next study. EXP3 under Actual is at "
        f"{mean(facts.surplus(entry(EXP3, ACTUAL)))}.",
        "γ = 0.0085 is run where the paper's lines depend on it: for EXP3, for HierarchicalBandit on EXP3 and "
        "ε-greedy, and for ThompsonBounded on ε-greedy.",
        "Verdicts are on the surplus expected given the arms chosen; no other seed was tried. Realised surplus, "
        "which the paper plots, has the same mean and a wider spread.",
    ]


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
            ours += f". Our setting was chosen after seeing results: {_readings_judged(facts, published)}"
        statement = f"{NAMES[one]}: surplus lives, both trials pooled"
        # At the paper's own number of runs, and in part where ten times as many tell them apart.
        verdict = IN_PART if published.agrees_with(few) > published.agrees_with(many) else published.verdict(few)
        numbers.append(Claim(statement, str(published), ours, verdict))
    return [
        *numbers,
        _hybrids_gain(facts),
        _best_is_thompson(facts),
        _protocol_beats(facts, ACTUAL, "“better”"),
        _protocol_beats(facts, COMPLY, "“to a lesser extent”"),
        _gain_is_in_aspirin(facts),
        _exp3_fails(facts),
    ]


def _agreeing(facts: Facts, n_runs: int, measure: str = "surplus") -> list[str]:
    """The paper's policies whose figures agree with its own."""
    figures = HEADLINE_FIGURES.items()
    return [
        NAMES[one] for one, paper in figures if paper.agrees_with(facts.surplus(one, measure=measure, n_runs=n_runs))
    ]


def _in_more_runs(facts: Facts) -> str:
    names = _agreeing(facts, facts.many)
    if len(names) == len(NAMES):
        return f"In {facts.many:,} runs all three agree too."
    if not names:
        return f"In {facts.many:,} runs none agrees."
    return f"In {facts.many:,} runs only {' and '.join(names)} {'agrees' if len(names) == 1 else 'agree'}."


def _realised(facts: Facts) -> str:
    """Whose realised surplus disagrees with the paper's figure, and in how many runs."""
    sizes: dict[str, list[str]] = {}
    for n in (facts.few, facts.many):
        agreeing = _agreeing(facts, n, "realised_surplus")
        for name in NAMES.values():
            if name not in agreeing:
                sizes.setdefault(name, []).append(f"{n:,}")
    if not sizes:
        return "on that measure all three agree in both sizes"
    return (
        f"on that measure these disagree: {listed([f'{name} ({listed(its)} runs)' for name, its in sizes.items()])}"
    )


_READINGS = {LITERAL: "as written", PLAIN: "with all experts learning from every round"}


def _readings(facts: Facts) -> str:
    """What ThompsonBounded on ε-greedy saves in its other readings."""
    figures = {words: facts.surplus(entry(GREEDY, BOUNDED, one)) for one, words in _READINGS.items()}
    return ", ".join(f"{words} it saves {mean(one)}" for words, one in figures.items())


def _readings_judged(facts: Facts, published: Published) -> str:
    """The same with intervals, and whether each agrees with the paper's figure."""
    figures = {words: facts.surplus(entry(GREEDY, BOUNDED, one)) for one, words in _READINGS.items()}
    return ", ".join(f"{words} {text(one)} ({published.verdict(one)})" for words, one in figures.items())


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
    above = [one.low is not None and one.low > 0 for one in _gains(facts).values()]
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
    better, worse = (gap.low is not None and gap.low > 0), (gap.high is not None and gap.high < 0)
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
        texts.append(f"{learner} {text(own)}, beats {_so_many(won[learner], len(rivals))}")
    judged = won[THOMPSON], won[GREEDY]
    return Claim(
        f"{strategy} performs better than Chosen and the hybrids (here HierarchicalBandit, and "
        "ThompsonBounded with recycling); the verdict uses Thompson and ε-greedy only",
        words,
        "; ".join(texts),
        AGREES if judged == (3, 3) else IN_PART if any(judged) else DIFFERS,
    )


def _so_many(n: int, total: int) -> str:
    """How many of several.

    >>> _so_many(0, 3), _so_many(2, 3), _so_many(3, 3)
    ('none of the 3', '2 of the 3', 'all 3')
    """
    return f"all {total}" if n == total else f"{n or 'none'} of the {total}"


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
    below = [figure.high is not None and figure.high < 0 for figure in figures.values()]
    return Claim(
        "EXP3 does worse than uniform randomisation under Actual and Comply (a comment in the paper's LaTeX source, "
        "not in print)",
        "“extremely badly”",
        ", ".join(f"{name} {text(figure)}" for name, figure in figures.items()),
        verdict_on(below),
    )
