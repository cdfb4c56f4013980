"""Propositions 2 and 3: where Actual is best, where Comply is, and the expectations of the proofs."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist
from typing import TYPE_CHECKING

from adhere.report.numbers import estimate_texts
from adhere.report.section import AGREES, DIFFERS, IN_PART, Claim, Section
from adhere.simulation import Estimate
from adhere.studies.proposition_exhibits import drawings, listings
from adhere.studies.proposition_tables import (
    ALIKE,
    CONTROL_SHARES,
    FAVOURITES,
    LEARNERS,
    MILD,
    N_DRAWN,
    N_PATIENTS,
    PROTOCOLS,
    UNLIKE,
    experiments,
    tables,
)
from adhere.studies.study import Study

if TYPE_CHECKING:
    from adhere.studies.study import Tables

FIRST = next(iter(LEARNERS))
# Populations as the table of claims calls them, where the reader has not met them yet.
_SETTINGS = {
    ALIKE.name: f"where rewards depend only on the arm taken (“{ALIKE.name}”)",
    MILD.name: f"where few comply but gain much (“{MILD.name}”)",
}
_FAULT = 1e-12  # beyond this, two ways to compute an expectation do not agree


class _Told:
    """The tables with the few facts that more than one sentence needs."""

    def __init__(self, tables: Tables) -> None:
        self.expectations, self.regret = tables["expectations"], tables["regret"]
        self.mixtures = {row["name"]: row for row in tables["mixtures"].to_dicts()}
        self.n_runs = self.regret["runs"][0]
        rows = self.expectations.to_dicts()
        self.n_expectations = len(rows)
        self.fault = max(abs(row["formula"] - row["expected"]) for row in rows)
        self.farthest = max(abs(row["mean"] - row["formula"]) / row["se"] for row in rows)
        # So far off is one of this many, by chance alone, in one study out of twenty.
        self.too_far = NormalDist().inv_cdf(1 - 0.025 / len(rows))

    @property
    def met(self) -> bool:
        """Whether formulas, populations and simulations agree."""
        return bool(self.fault < _FAULT and self.farthest < self.too_far)

    def gap(self, population: str, protocol: str) -> float:
        """How much better the treatment looks to a protocol, the arms equally often chosen."""
        its = self.expectations.filter(population=population, protocol=protocol, control_share=CONTROL_SHARES[0])
        control, treatment = its["formula"].to_list()
        return float(treatment - control)

    def chain_holds(self, population: str) -> bool:
        """The proof's r_C0 ≤ E[R|c0,a0] ≤ E[R|a0], and the opposite for the treatment."""
        compliers, holds = self.mixtures[population], True
        for q_0 in CONTROL_SHARES:
            its = self.expectations.filter(population=population, control_share=q_0)
            seen = {(row["protocol"], row["arm"]): row["formula"] for row in its.to_dicts()}
            holds &= compliers["r_c0"] <= seen["comply", "control"] <= seen["actual", "control"]
            holds &= compliers["r_c1"] >= seen["comply", "treatment"] >= seen["actual", "treatment"]
        return bool(holds)

    def n_beating(self, population: str, *protocols: str) -> int:
        """With how many learners the favourite surely has less regret than all of these."""
        its = self.regret.filter(population=population)
        sure = its.filter(its["protocol"].is_in(protocols), its["difference_lo"] > 0.0)
        return sum(len(sure.filter(learner=learner)) == len(protocols) for learner in LEARNERS)

    def n_beaten(self, population: str, protocol: str) -> int:
        """With how many learners it surely has more regret than this one."""
        its = self.regret.filter(population=population, protocol=protocol)
        return len(its.filter(its["difference_hi"] < 0.0))

    def n_comply_beats_chosen(self, population: str) -> int:
        """With how many learners, where neither is the favourite: those whose intervals are apart."""
        its = self.regret.filter(population=population)
        comply, chosen = (its.filter(protocol=protocol) for protocol in ("comply", "chosen"))
        return int((comply["hi"] < chosen["lo"]).sum())

    def regrets(self, population: str, learner: str = FIRST) -> str:
        rows = self.regret.filter(population=population, learner=learner).to_dicts()
        texts = estimate_texts([Estimate(row["mean"], None, row["lo"], row["hi"]) for row in rows])
        return ", ".join(f"{row['protocol'].title()} {text}" for row, text in zip(rows, texts, strict=True))


def tell(tables: Tables) -> Section:
    """Which protocol is best where, and why."""
    told = _Told(tables)
    return Section(
        name=STUDY.name,
        title=STUDY.title,
        asked=(
            "Are there settings where Actual outperforms Chosen and Comply (Proposition 2), and where Comply "
            "outperforms the other two (Proposition 3)? We take three mixtures of never-takers, always-takers and "
            f"compliers: “{ALIKE.name}”, where rewards depend only on the arm taken; “{UNLIKE.name}”, the setting in "
            f"the proof of Proposition 3; and “{MILD.name}”, where few comply but gain much, and the others hardly "
            "differ."
        ),
        found=" ".join([_met(told), _best(told, ALIKE.name), _best(told, MILD.name), _proof(told)]),
        how_sure=(
            f"Regret is a mean over {told.n_runs:,} runs of {N_PATIENTS} patients; protocols meet the same patients, "
            "and one counts as better only where the 95% interval of the difference excludes 0. EXP3, which does "
            "badly under Actual and Comply in the stroke trial, is left out. One example shows that "
            "“there are settings”, not how common they are; ours were chosen to show it."
        ),
        claims=_claims(told),
        drawings=drawings(told.regret, told.expectations),
        listings=listings(told.regret, told.expectations, tables["mixtures"]),
    )


def _met(told: _Told) -> str:
    chains = [name for name in told.mixtures if name != ALIKE.name and told.chain_holds(name)]
    return (
        f"The {told.n_expectations} expectations by the proofs' formulas "
        f"{'equal' if told.fault < _FAULT else 'differ from'} the populations' own, and {N_DRAWN:,} simulated "
        f"patients {'meet' if told.farthest < told.too_far else 'do not meet'} them (the farthest is "
        f"{told.farthest:.1f} standard errors off); the proof's inequalities "
        + (f"hold on {' and '.join(chains)}." if chains else "do not hold.")
    )


def _best(told: _Told, population: str) -> str:
    best = _favourite(population)
    others = [protocol for protocol in PROTOCOLS if protocol != best]
    n = told.n_beating(population, *others)
    text = (
        f"On {population}, {best.title()} has surely less regret than {_both(others)} with {n} of {len(LEARNERS)} "
        "learners"
    )
    losers = {other: told.n_beaten(population, other) for other in others}
    exceptions = [f"{other.title()} has less with {count}" for other, count in losers.items() if count]
    return text + (f"; {' and '.join(exceptions)}." if exceptions else ".")


def _proof(told: _Told) -> str:
    name, n = UNLIKE.name, len(LEARNERS)
    to_actual, to_chosen = (told.n_beating(name, protocol) for protocol in ("actual", "chosen"))
    lost = told.n_beaten(name, "chosen")
    text = (
        f"In the setting of the proof itself ({name}), Comply has less than Actual with {to_actual} of {n}, less "
        f"than Chosen with {to_chosen} and more than Chosen with {lost}."
    )
    comply, chosen = told.gap(name, "comply"), told.gap(name, "chosen")
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


def _claims(told: _Told) -> list[Claim]:
    n = len(LEARNERS)
    to_actual, to_chosen = (told.n_beating(UNLIKE.name, protocol) for protocol in ("actual", "chosen"))
    over_chosen = told.n_comply_beats_chosen(ALIKE.name)
    of_the_proof = f"({FIRST}: {told.regrets(UNLIKE.name)})"
    return [
        Claim(
            "Expectations in the proofs of Propositions 2 and 3",
            "formulas for E[R|c], E[R|a] and E[R|c,a]",
            f"{told.n_expectations} computed and simulated; the farthest is {told.farthest:.1f} standard errors off",
            AGREES if told.met else DIFFERS,
        ),
        _claim(told, "Proposition 2", ALIKE.name),
        _claim(told, "Proposition 3", MILD.name),
        Claim(
            "Proof of Proposition 3: in the setting of Proposition 2, Comply outperforms Chosen",
            "“It is easy to see that Comply outperforms Chosen in the setting of Proposition 2.”",
            f"{_SETTINGS[ALIKE.name]}, intervals of regret are apart with {over_chosen} of {n} learners ({FIRST}: "
            f"{told.regrets(ALIKE.name)})",
            _verdict(over_chosen),
        ),
        Claim(
            "Proof of Proposition 3: in its own setting, Comply outperforms Actual",
            "“diluted under both Actual and Comply. However, Comply’s estimate is more accurate.”",
            f"less regret with {to_actual} of {n} learners {of_the_proof}",
            _verdict(to_actual),
        ),
        Claim(
            "Proof of Proposition 3: in its own setting, Comply outperforms Chosen too",
            "not compared there",
            f"less regret with {to_chosen} of {n} learners, more with {told.n_beaten(UNLIKE.name, 'chosen')} "
            f"{of_the_proof}",
            _verdict(to_chosen),
        ),
    ]


def _verdict(n_learners: int) -> str:
    return AGREES if n_learners == len(LEARNERS) else IN_PART if n_learners else DIFFERS


def _claim(told: _Told, proposition: str, population: str) -> Claim:
    """There are settings: one learner for which the protocol beats both others is enough."""
    best = _favourite(population)
    others = [protocol for protocol in PROTOCOLS if protocol != best]
    n_both = told.n_beating(population, *others)
    beats_one = any(told.n_beating(population, other) for other in others)
    return Claim(
        f"{proposition}: there are settings where {best.title()} outperforms {_both(others)}",
        f"“There are settings where {best.title()} outperforms {_both(others)}.”",
        f"{_SETTINGS[population]}, best with {n_both} of {len(LEARNERS)} learners (regret of {FIRST}: "
        f"{told.regrets(population)})",
        AGREES if n_both else IN_PART if beats_one else DIFFERS,
    )


STUDY = Study("propositions", "Propositions 2 and 3", experiments, tables, tell)
