"""What the page looks up in the study's tables."""

from __future__ import annotations

from functools import cached_property

import polars

from adhere.studies.coverage.adaptive_trials import SEQUENCE
from adhere.studies.coverage.judgements import Judgement, judge
from adhere.studies.coverage.people import WEAK
from adhere.studies.coverage.tables import ADAPTIVE_DESIGN, FIXED_DESIGN
from adhere.studies.coverage.tally import HOLDS
from adhere.studies.framework.study import Tables


class Facts:
    """The tables `intervals`, `tests` and `populations`, and what is read off them."""

    def __init__(self, tables: Tables) -> None:
        self.intervals, self.tests, self.populations = (
            tables[name] for name in ("intervals", "tests", "populations")
        )
        self.judgements = judge(tables)

    def of(self, design: str) -> polars.DataFrame:
        """The intervals of a design."""
        return self.intervals.filter(polars.col("design") == design)

    @cached_property
    def fixed(self) -> polars.DataFrame:
        """Those of fixed designs."""
        return self.of(FIXED_DESIGN)

    @cached_property
    def adaptive(self) -> polars.DataFrame:
        """Those of adaptive designs."""
        return self.of(ADAPTIVE_DESIGN)

    @cached_property
    def sequences(self) -> polars.DataFrame:
        """The confidence sequences."""
        return self.adaptive.filter(polars.col("method") == SEQUENCE)

    @cached_property
    def weak(self) -> polars.DataFrame:
        """What the weak instrument gave for compliers."""
        rows = self.fixed.filter(polars.col("population").is_in(WEAK))
        wanted = polars.col("view") == "compliers", polars.col("quantity") == "difference"
        return rows.filter(*wanted, polars.col("coverage").is_not_null())

    def beside(self, design: str) -> polars.DataFrame:
        """Intervals of a kind that is judged nowhere in the design, where they were given."""
        rows, kind = self.of(design), ["view", "quantity", "method"]
        judged = rows.filter(polars.col("judged")).select(kind).unique()
        left = rows.join(judged, kind, "anti", maintain_order="left")
        return left.filter(polars.col("quantity") == "difference", polars.col("coverage").is_not_null())

    def judged(self, design: str, *, tests: bool = False) -> list[Judgement]:
        """The judgements on a design's intervals, or tests."""
        return [one for one in self.judgements if one.design == design and one.what.startswith("test: ") == tests]

    def n_trials(self, design: str) -> int:
        """How many trials of a design were analysed."""
        rows = self.of(design).group_by("population", "policy", "n_patients").agg(polars.col("n_trials").max())
        return int(rows["n_trials"].sum())


def n_holding(judgements: list[Judgement]) -> int:
    """How many of them hold."""
    return sum(one.verdict == HOLDS for one in judgements)
