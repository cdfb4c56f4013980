"""The claims of Propositions 2 and 3 and of their proofs, and sentences on what the study found."""

from __future__ import annotations

from collections.abc import Sequence

from adhere.report.section import AGREES, DIFFERS, IN_PART, OURS, Claim
from adhere.studies.propositions.experiments import ALIKE, FAVOURITES, LEARNERS, MILD, N_PATIENTS, PROTOCOLS, UNLIKE
from adhere.studies.propositions.tables import FIRST, N_DRAWN, Facts

# Populations as the table of claims calls them, where the reader has not met them yet.
_SETTINGS = {
    ALIKE.name: f"where rewards depend only on the arm taken (“{ALIKE.name}”)",
    MILD.name: f"where few comply but gain much (“{MILD.name}”)",
}


def question(facts: Facts) -> str:
    """The question of the study."""
    return (
        "Are there settings where Actual outperforms Chosen and Comply (Proposition 2), and settings where Comply "
        "outperforms Chosen and Actual (Proposition 3)?"
    )


def result(facts: Facts) -> str:
    """The result."""
    n_actual, n_comply = (_n_best(facts, one.name) for one in (ALIKE, MILD))
    found = {
        (True, True): "Both exist",
        (True, False): "Only the first is found",
        (False, True): "Only the second is found",
    }
    return (
        f"{found.get((n_actual > 0, n_comply > 0), 'Neither is found')}: Actual has the least regret with {n_actual} "
        f"of {len(LEARNERS)} learners where rewards depend only on the arm taken, and Comply with {n_comply} of "
        f"{len(LEARNERS)} where few comply but gain much."
    )


def uncertainty(facts: Facts) -> str:
    """The uncertainty of the result."""
    return (
        f"Means over {facts.n_runs:,} runs of {N_PATIENTS} patients; protocols meet the same patients, and one "
        "counts as better only where the 95% interval of the difference excludes 0. One example shows that there are "
        "such settings, not how common they are: ours were chosen to show it."
    )


def details(facts: Facts) -> list[str]:
    """How it was done, and what else was found."""
    return [
        f"Three mixtures of never-takers, always-takers and compliers: “{ALIKE.name}”, where rewards depend only on "
        f"the arm taken; “{UNLIKE.name}”, the setting in the proof of Proposition 3; and “{MILD.name}”, where few "
        "comply but gain much, and the others hardly differ. EXP3, which does badly under Actual and Comply in the "
        "stroke trial, is left out.",
        _expectations(facts),
        f"{_best(facts, ALIKE.name)} {_best(facts, MILD.name)}",
        _proof(facts),
    ]


def _n_best(facts: Facts, population: str) -> int:
    """With how many learners the favourite of a population beats both other protocols."""
    return facts.n_beating(population, *(one for one in PROTOCOLS if one != _favourite(population)))


def _expectations(facts: Facts) -> str:
    chains = [name for name in facts.mixtures if name != ALIKE.name and facts.chain_holds(name)]
    return (
        f"The {facts.n_expectations} expectations by the proofs' formulas "
        f"{'equal' if facts.formulas_hold else 'differ from'} the populations' own, and {N_DRAWN:,} simulated "
        f"patients {'meet' if facts.simulations_agree else 'do not meet'} them (the farthest is "
        f"{facts.farthest:.1f} standard errors off); the proof's inequalities "
        + (f"hold on {' and '.join(chains)}." if chains else "do not hold.")
    )


def _best(facts: Facts, population: str) -> str:
    best = _favourite(population)
    others = [protocol for protocol in PROTOCOLS if protocol != best]
    n = _n_best(facts, population)
    text = (
        f"On {population}, {best.title()} has less regret than {_both(others)} with {n} of {len(LEARNERS)} learners"
    )
    losers = {other: facts.n_beaten(population, other) for other in others}
    exceptions = [f"{other.title()} has less with {count}" for other, count in losers.items() if count]
    return text + (f"; {' and '.join(exceptions)}." if exceptions else ".")


def _proof(facts: Facts) -> str:
    name, n = UNLIKE.name, len(LEARNERS)
    to_actual, to_chosen = (facts.n_beating(name, protocol) for protocol in ("actual", "chosen"))
    lost = facts.n_beaten(name, "chosen")
    text = (
        f"In the setting of the proof itself ({name}), Comply has less than Actual with {to_actual} of {n}, less "
        f"than Chosen with {to_chosen} and more than Chosen with {lost}."
    )
    comply, chosen = facts.gap(name, "comply"), facts.gap(name, "chosen")
    if lost and comply < chosen:
        text += (
            f" Between treatment and control Comply sees a gap of {comply:.3f}, Chosen of {chosen:.3f}. Other "
            "numbers are unlikely to help: wherever the treatment helps compliers and the proof's conditions hold, "
            "Comply sees the smaller gap. The proof compares Comply with Actual here, and with Chosen in the setting "
            "of Proposition 2."
        )
    return text


def _favourite(population: str) -> str:
    return next(best for one, best in FAVOURITES.items() if one.name == population)


def _both(protocols: Sequence[str]) -> str:
    return " and ".join(protocol.title() for protocol in protocols)


def make_claims(facts: Facts) -> list[Claim]:
    """The two propositions, and what their proofs say."""
    n = len(LEARNERS)
    to_actual, to_chosen = (facts.n_beating(UNLIKE.name, protocol) for protocol in ("actual", "chosen"))
    over_chosen = facts.n_comply_beats_chosen(ALIKE.name)
    of_the_proof = f"({FIRST}: {facts.regrets(UNLIKE.name)})"
    return [
        Claim(
            "Expectations in the proofs of Propositions 2 and 3",
            "formulas for E[R|c], E[R|a] and E[R|c,a]",
            f"{facts.n_expectations} computed and simulated; the farthest is {facts.farthest:.1f} standard errors "
            "off",
            AGREES if facts.formulas_hold and facts.simulations_agree else DIFFERS,
        ),
        _claim(facts, "Proposition 2", ALIKE.name),
        _claim(facts, "Proposition 3", MILD.name),
        Claim(
            "Proof of Proposition 3: in the setting of Proposition 2, Comply outperforms Chosen",
            "“It is easy to see that Comply outperforms Chosen in the setting of Proposition 2.”",
            f"{_SETTINGS[ALIKE.name]}, intervals of regret are apart with {over_chosen} of {n} learners ({FIRST}: "
            f"{facts.regrets(ALIKE.name)})",
            _verdict(over_chosen),
        ),
        Claim(
            "Proof of Proposition 3: in its own setting, Comply outperforms Actual",
            "“diluted under both Actual and Comply. However, Comply’s estimate is more accurate.”",
            f"less regret with {to_actual} of {n} learners {of_the_proof}",
            _verdict(to_actual),
        ),
        Claim(
            "In the setting of the proof of Proposition 3, Comply against Chosen",
            "“There are settings where Comply outperforms Chosen and Actual.” The proof gives this setting, and "
            "compares Comply with Actual only",
            f"less regret with {to_chosen} of {n} learners, more with {facts.n_beaten(UNLIKE.name, 'chosen')} "
            f"{of_the_proof}",
            OURS,
        ),
    ]


def _verdict(n_learners: int) -> str:
    return AGREES if n_learners == len(LEARNERS) else IN_PART if n_learners else DIFFERS


def _claim(facts: Facts, proposition: str, population: str) -> Claim:
    """There are settings: one learner for which the protocol beats both others is enough."""
    best = _favourite(population)
    others = [protocol for protocol in PROTOCOLS if protocol != best]
    n_both = _n_best(facts, population)
    beats_one = any(facts.n_beating(population, other) for other in others)
    return Claim(
        f"{proposition}: there are settings where {best.title()} outperforms {_both(others)}",
        f"“There are settings where {best.title()} outperforms {_both(others)}.”",
        f"{_SETTINGS[population]}, best with {n_both} of {len(LEARNERS)} learners (regret of {FIRST}: "
        f"{facts.regrets(population)})",
        AGREES if n_both else IN_PART if beats_one else DIFFERS,
    )
