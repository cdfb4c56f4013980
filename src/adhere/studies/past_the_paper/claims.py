"""What the policies past the paper come to: sentences and findings of our own."""

from __future__ import annotations

from adhere.policies.aware.mediated_evidence import ODDS
from adhere.report.numbers import estimate_texts
from adhere.report.section import OURS, Claim
from adhere.studies.framework.words import listed, percent, share
from adhere.studies.lineup.tables import is_above
from adhere.studies.past_the_paper.entries import (
    ANY_HORIZON,
    BOUNDED_DEFAULT,
    CERTAIN,
    DEFAULT,
    EVEN,
    FLOOR,
    HAC_UCB,
    HYBRIDS,
    OPTIMUM,
    SMALL,
    THOMPSON,
)
from adhere.studies.past_the_paper.experiments import OPTIMUM_READING
from adhere.studies.past_the_paper.tables import Facts
from adhere.studies.small_trials.experiments import READINGS
from adhere.studies.stroke_trial.experiments import TRIALS
from adhere.studies.stroke_trial.tables import mean, text

_NOT_STATED = "nothing: these policies are not in it"


def question(facts: Facts) -> str:
    """The question of the study."""
    return (
        "What do policies gain that use what was taken only while the data do not speak against it, on the paper's "
        f"Figures 1 and 3; and how much is there to gain at all in trials of {facts.n_small} patients?"
    )


def result(facts: Facts) -> str:
    """The result."""
    hybrids = [mean(facts.lives(one)) for one in HYBRIDS]
    return (
        f"MediatedThompson saves {mean(facts.lives(DEFAULT))} lives, the paper's hybrids {listed(hybrids)} and "
        f"Thompson sampling {mean(facts.lives(THOMPSON))}; in trials of {facts.n_small} it gains "
        f"{share(facts.fraction(DEFAULT).mean)} of the optimum, Thompson sampling "
        f"{share(facts.fraction(THOMPSON).mean)}."
    )


def uncertainty(facts: Facts) -> str:
    """The uncertainty of the result."""
    return (
        f"Intervals are Monte Carlo, over {facts.n_runs:,} runs of the stroke trial and {facts.n_simulations:,} "
        "small trials. Three populations and two trials do not say how a policy does elsewhere: “adhere arena” "
        "compares them on thousands of populations, on some of which what was taken misleads. No bound on the regret "
        "of MediatedThompson is proved."
    )


def details(facts: Facts) -> list[str]:
    """How it was done, and what else was found."""
    best = max(SMALL, key=lambda one: -1.0 if one == OPTIMUM else facts.fraction(one).mean)
    return [
        "MediatedThompson weighs two hypotheses: given the arm taken, the reward does not depend on the arm "
        "recommended, so that all who took an arm speak for it; or it does, and only the arm recommended counts. "
        f"The odds are how much likelier the first is before the first patient, {ODDS:g} unless "
        "they are given (the square of that with three arms). With odds ∞ it never doubts, which is what "
        "Stirn and Jebara (2018) do, by their abstract.",
        "ThompsonBounded on MediatedThompson follows it only where two samples of Thompson sampling disagree, and so "
        "has the paper's own guarantee; the floor keeps 10% of the recommendations for each arm; HAC-UCB (Bilodeau "
        "and others, 2022) pools what was taken until a test fails.",
        f"The optimum is computed exactly by dynamic programming, for the population in which non-compliers take "
        f"{READINGS[OPTIMUM_READING]}: {facts.optimum:.4f} rewards per trial of {facts.n_small} above uniform "
        f"randomisation. Of the policies that do not know that prior, {best.label} comes nearest, with "
        f"{share(facts.fraction(best).mean)}.",
        "The Gittins index and the optimum plan for a known number of patients, too few for the stroke trial; they "
        "are in the small trials alone.",
    ]


def make_claims(facts: Facts) -> list[Claim]:
    """Findings of our own: on the stroke trial, on small trials, and what guards cost."""
    return [_stroke(facts), _fractions(facts), _guards(facts)]


def _stroke(facts: Facts) -> Claim:
    gains = [facts.lives(DEFAULT, trial, "difference") for trial in TRIALS]
    aspirin, heparin = estimate_texts(gains, sign="+", digits=1)
    above = [one.label for one in HYBRIDS if is_above(facts.lives(DEFAULT), facts.lives(one))]
    others = ", ".join(f"{one.label} {text(facts.lives(one))}" for one in ANY_HORIZON if one != DEFAULT)
    return Claim(
        "What MediatedThompson saves on the stroke trial (surplus lives, both trials pooled)",
        _NOT_STATED,
        f"{text(facts.lives(DEFAULT))}; minus Thompson sampling on the same patients {aspirin} on aspirin and "
        f"{heparin} on heparin; beyond chance above {listed(above) if above else 'neither hybrid of the paper'}. "
        f"The others: {others}",
        OURS,
    )


def _fractions(facts: Facts) -> Claim:
    shown = (OPTIMUM, DEFAULT, EVEN, CERTAIN, HAC_UCB, THOMPSON, *HYBRIDS)
    return Claim(
        f"How much of the optimum policies gain in trials of {facts.n_small} patients, if non-compliers take "
        f"{READINGS[OPTIMUM_READING]}",
        _NOT_STATED,
        f"The optimum is {facts.optimum:.4f} rewards per trial; simulated, it gains "
        + "; ".join(f"{percent(facts.fraction(one))} ({one.label})" for one in shown),
        OURS,
    )


def _guards(facts: Facts) -> Claim:
    guards = (BOUNDED_DEFAULT, FLOOR)
    return Claim(
        "What is left of the gain with a guard around MediatedThompson",
        _NOT_STATED,
        "; ".join(
            f"{one.label} saves {text(facts.lives(one))} lives and gains {percent(facts.fraction(one))} of the "
            "optimum in small trials"
            for one in guards
        )
        + f"; MediatedThompson alone {text(facts.lives(DEFAULT))} and {percent(facts.fraction(DEFAULT))}",
        OURS,
    )
