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

_FAULT = 1e-12  # beyond this, two ways to compute an expectation do not agree


class _Told:
    """The tables with the few facts that more than one sentence needs."""

    def __init__(self, tables: Tables) -> None:
        self.expectations, self.regret = tables["expectations"], tables["regret"]
        self.mixtures = {row["name"]: row for row in tables["mixtures"].to_dicts()}
        rows = self.expectations.to_dicts()
        self.n_expectations = len(rows)
        self.fault = max(abs(row["formula"] - row["expected"]) for row in rows)
        self.n_inside = sum(row["lo"] <= row["formula"] <= row["hi"] for row in rows)
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

    def regrets(self, population: str, learner: str = LEARNERS[0]) -> str:
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
            "The paper says there are settings where Actual outperforms Chosen and Comply (Proposition 2), and where "
            "Comply outperforms the other two (Proposition 3). We take three mixtures of never-takers, always-takers "
            f"and compliers: “{ALIKE.name}”, where rewards depend only on the treatment taken; “{UNLIKE.name}”, the "
            "setting in the proof of Proposition 3, where never-takers are healthier and always-takers less healthy "
            f"than compliers; and “{MILD.name}”, where few comply but gain much, and the others hardly differ. Are "
            f"the expectations of the proofs met, and who has least regret after {N_PATIENTS} patients?"
        ),
        found=" ".join([_met(told), _best(told, ALIKE.name), _best(told, MILD.name), _proof(told)]),
        how_sure=(
            f"Each expectation is the mean reward credited to an arm over {N_DRAWN:,} patients, at "
            f"{len(CONTROL_SHARES)} ratios of the arms; {told.n_inside} of the {told.n_expectations} intervals of "
            "95% hold the proof's figure. Regret is a mean over runs; protocols are compared on the same patients, "
            "and one counts as better only where the 95% interval of the difference excludes 0. The propositions say "
            "“there are settings”: one example shows them, and says nothing of how common such settings are. Ours "
            "were chosen to show it."
        ),
        claims=_claims(told),
        drawings=drawings(told.regret, told.expectations),
        listings=listings(told.regret, told.expectations),
    )


def _met(told: _Told) -> str:
    chains = [name for name in told.mixtures if name != ALIKE.name and told.chain_holds(name)]
    return (
        f"The {told.n_expectations} expectations computed by the proofs' formulas "
        f"{'equal' if told.fault < _FAULT else 'differ from'} the populations' own, and simulated patients "
        f"{'meet' if told.farthest < told.too_far else 'do not meet'} them: the farthest is {told.farthest:.1f} "
        f"standard errors off. The proof's r_C0 ≤ E[R|c0,a0] ≤ E[R|a0] and r_C1 ≥ E[R|c1,a1] ≥ E[R|a1] "
        + (f"hold on {' and '.join(chains)}." if chains else "do not hold.")
    )


def _best(told: _Told, population: str) -> str:
    best = _favourite(population)
    others = [protocol for protocol in PROTOCOLS if protocol != best]
    n = told.n_beating(population, *others)
    text = (
        f"On {population}, {best.title()} has surely less regret than {_both(others)} with {n} of {len(LEARNERS)} "
        f"learners ({LEARNERS[0]}: {told.regrets(population)})"
    )
    losers = {other: told.n_beaten(population, other) for other in others}
    exceptions = [f"{other.title()} has less with {count}" for other, count in losers.items() if count]
    return text + (f"; {' and '.join(exceptions)}." if exceptions else ".")


def _proof(told: _Told) -> str:
    name, n = UNLIKE.name, len(LEARNERS)
    to_actual, to_chosen = (told.n_beating(name, protocol) for protocol in ("actual", "chosen"))
    lost = told.n_beaten(name, "chosen")
    text = (
        f"In the setting of the proof itself ({name}), Comply has less regret than Actual with {to_actual} of {n} "
        f"learners, less than Chosen with {to_chosen} and more than Chosen with {lost} ({LEARNERS[0]}: "
        f"{told.regrets(name)})."
    )
    comply, chosen = told.gap(name, "comply"), told.gap(name, "chosen")
    if lost and comply < chosen:
        text += (
            f" Between treatment and control Comply sees a gap of {_signed(comply)}, Chosen of {_signed(chosen)}. "
            "Other numbers would not help: where the treatment helps compliers and the proof's inequalities hold for "
            "both of their rewards, Comply always sees the smaller gap. The proof compares Comply with Actual here "
            "and with Chosen in the setting of Proposition 2, never with both in one."
        )
    return text


def _signed(gap: float) -> str:
    return f"{gap:.3f}".replace("-", "−")


def _favourite(population: str) -> str:
    return next(best for one, best in FAVOURITES.items() if one.name == population)


def _both(protocols: Sequence[str]) -> str:
    return " and ".join(protocol.title() for protocol in protocols)


def _claims(told: _Told) -> list[Claim]:
    to_actual, to_both = told.n_beating(UNLIKE.name, "actual"), told.n_beating(UNLIKE.name, "actual", "chosen")
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
            "The setting in the proof of Proposition 3 makes Comply best",
            "Comply's estimates are closer to the compliers' rewards than Actual's; Chosen is not compared",
            f"less regret than Actual with {to_actual} of {len(LEARNERS)} learners, than Chosen with "
            f"{told.n_beating(UNLIKE.name, 'chosen')} ({LEARNERS[0]}: {told.regrets(UNLIKE.name)})",
            AGREES if to_both else IN_PART if to_actual and told.chain_holds(UNLIKE.name) else DIFFERS,
        ),
    ]


def _claim(told: _Told, proposition: str, population: str) -> Claim:
    """There are settings: one learner for which the protocol beats both others is enough."""
    best = _favourite(population)
    others = [protocol for protocol in PROTOCOLS if protocol != best]
    n_both = told.n_beating(population, *others)
    beats_one = any(told.n_beating(population, other) for other in others)
    return Claim(
        f"{proposition}: there are settings where {best.title()} outperforms {_both(others)}",
        f"{best.title()} best",
        f"on {population}, best with {n_both} of {len(LEARNERS)} learners (regret of {LEARNERS[0]}: "
        f"{told.regrets(population)})",
        AGREES if n_both else IN_PART if beats_one else DIFFERS,
    )


STUDY = Study("propositions", "Propositions 2 and 3", experiments, tables, tell)
