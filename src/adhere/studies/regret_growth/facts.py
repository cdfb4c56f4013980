"""What the tables of the study of regret growth say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from adhere.report.numbers import estimate_in_row, estimate_texts
from adhere.report.proportions import interval_in
from adhere.studies.framework.study import Tables
from adhere.studies.framework.wording import listed
from adhere.studies.regret_growth.experiments import RECYCLING, THOMPSON_HYBRID


class Facts:
    """The tables, looked up by population and policy."""

    def __init__(self, tables: Tables) -> None:
        self.regret, self.growth, self.stuck = tables["regret"], tables["growth"], tables["stuck"]
        self.populations = tables["populations"]
        self.gaps = {row["population"]: row["chosen"] for row in tables["gaps"].to_dicts()}

    def rows(self, policy: str) -> list[dict[str, Any]]:
        """How a policy's regret grows on each population."""
        return self.growth.filter(policy=policy).to_dicts()

    def orders(self, policy: str) -> set[str]:
        """What the policy's regret grows like, on all populations."""
        return {row["order"] for row in self.rows(policy)}

    def powers(self, policy: str, intervals: bool = True) -> str:
        """The exponents of a policy on each population it was run on."""
        rows = self.rows(policy)
        texts = zip(texts_in(rows, "late", intervals), rows, strict=True)
        return listed([f"{text} on {row['population']}" for text, row in texts])

    def power(self, policy: str) -> str:
        """The exponent of a policy that was run on one population."""
        return texts_in(self.rows(policy), "late")[0]

    def bend(self, policy: str) -> str:
        """How much more the last decade of T cost than the one before."""
        return texts_in(self.rows(policy), "bend")[0]

    def missed(self, policy: str) -> str:
        """How much more it could cost and still pass for a straight line."""
        (row,) = self.rows(policy)
        return f"{row['runs_of_longest']} runs could miss {row['bend_hi']:.0f}"

    def n_stuck(self) -> int:
        """How many trials of the hierarchy on Thompson ended on the worse arm."""
        return int(self.stuck.filter(policy=THOMPSON_HYBRID)["ended_wrong"].sum())

    def stuck_text(self, policy: str = THOMPSON_HYBRID) -> str:
        """How many trials ended on the worse arm, by their length."""
        rows = self.stuck.filter(policy=policy).to_dicts()
        return listed([f"{one['ended_wrong']} of {one['runs']:,} trials of {one['patients']:,}" for one in rows])

    def recycling_helps(self) -> bool:
        """Whether, of trials of one length, surely fewer ended on the worse arm."""
        (with_it,) = self.stuck.filter(policy=RECYCLING).to_dicts()
        (without,) = self.stuck.filter(policy=THOMPSON_HYBRID, patients=with_it["patients"]).to_dicts()
        return interval_in(with_it, "share").hi < interval_in(without, "share").lo


def texts_in(rows: Sequence[Mapping[str, Any]], name: str, intervals: bool = True) -> list[str]:
    """An estimate of each row, by the name of its columns."""
    return estimate_texts([estimate_in_row(row, name) for row in rows], intervals=intervals)
