"""What the tables of Propositions 2 and 3 say."""

from __future__ import annotations

from statistics import NormalDist

from adhere.report.numbers import estimate_texts
from adhere.simulation import Estimate
from adhere.studies.framework.study import Tables
from adhere.studies.propositions.experiments import LEARNERS
from adhere.studies.propositions.tables import CONTROL_SHARES

FIRST = next(iter(LEARNERS))
_FAULT = 1e-12  # beyond this, two ways to compute an expectation do not agree


class Facts:
    """The tables with the few facts that more than one sentence needs."""

    def __init__(self, tables: Tables) -> None:
        self.expectations, self.regret = tables["expectations"], tables["regret"]
        self.mixtures = {row["name"]: row for row in tables["mixtures"].to_dicts()}
        self.n_runs = self.regret["runs"][0]
        rows = self.expectations.to_dicts()
        self.n_expectations = len(rows)
        fault = max(abs(row["formula"] - row["expected"]) for row in rows)
        self.formulas_hold = fault < _FAULT
        self.farthest = max(abs(row["mean"] - row["formula"]) / row["se"] for row in rows)
        # One of this many is as far off, by chance alone, in one study out of twenty.
        self.simulations_agree = self.farthest < NormalDist().inv_cdf(1 - 0.025 / len(rows))

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
        """The regret of a learner under each protocol."""
        rows = self.regret.filter(population=population, learner=learner).to_dicts()
        texts = estimate_texts([Estimate(row["mean"], None, row["lo"], row["hi"]) for row in rows])
        return ", ".join(f"{row['protocol'].title()} {text}" for row, text in zip(rows, texts, strict=True))
