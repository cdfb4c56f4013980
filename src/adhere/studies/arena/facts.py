"""The arena's tables, looked up: what its page says and draws."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import polars

from adhere.intervals import Z95, Estimate
from adhere.policies import MediatedThompson, as_policy
from adhere.policies.aware.mediated_evidence import ODDS
from adhere.studies.arena.cells import POOLED_STROKE
from adhere.studies.framework.study import Tables

REFERENCE, DEFAULT = "thompson", "mediated-thompson"
HORIZON = 2000  # of the heat map and the frontier
LARGE = 20  # populations of a family, from which on it has a worst 5%
# What charts of a few policies show, as far as they ran, before others.
MAIN = (
    REFERENCE,
    DEFAULT,
    "mediated-thompson(odds=inf)",
    "hierarchical(epsilon-greedy)",
    "thompson-bounded(hierarchical(epsilon-greedy), recycle=true)",
    "thompson-bounded(mediated-thompson)",
    "thompson/actual",
)
_FEW = 6  # of them


class Named(NamedTuple):
    """An estimate and what it is of."""

    name: str
    estimate: Estimate


class Facts:
    """What the page says. `horizon` is that of the heat map: 2,000 patients, or what came nearest."""

    def __init__(self, tables: Tables) -> None:
        self.results, self.curves = tables["results"], tables["curves"]
        self.families, self.left_out = tables["families"], tables["left_out"]
        horizons = self.results["n_patients"].unique().to_list()
        self.horizon = int(min(horizons, key=lambda one: abs(math.log(one / HORIZON))))
        self.longest, self.shortest = int(max(horizons)), int(min(horizons))
        self.at_horizon = self.results.filter(n_patients=self.horizon)
        # Further to the right is better, as on the other axis: what is lost is below zero.
        self.frontier = (
            tables["frontier"]
            .filter(n_patients=self.horizon)
            .with_columns(
                loss=-polars.col("loss"), loss_low=-polars.col("loss_high"), loss_high=-polars.col("loss_low")
            )
        )
        self.labels = dict(self.results.select("policy", "label").unique(maintain_order=True).iter_rows())
        reference = [policy for policy in self.labels if same(policy, REFERENCE)]
        self.reference = reference[0] if reference else next(iter(self.labels))
        self.default = next((policy for policy in self.labels if same(policy, DEFAULT)), None)
        self.sizes = sizes = dict(self.at_horizon.select("family", "n_populations").iter_rows())
        self.large = [family for family, size in sizes.items() if size >= LARGE]
        # The stroke trials pooled are no family beside the trials.
        self.large = self.large or [family for family in sizes if family != POOLED_STROKE] or list(sizes)
        self.single = [family for family in sizes if family not in self.large]

    def in_all(self) -> polars.DataFrame:
        """The results in the large families at the horizon, of policies that play in all of them."""
        its = self.at_horizon.filter(polars.col("family").is_in(self.large))
        return its.filter(polars.col("family").n_unique().over("policy") == len(self.large))

    def mapped(self) -> polars.DataFrame:
        """The results at the horizon, and those of families that were played at longer ones alone."""
        elsewhere = self.results.filter(
            ~polars.col("family").is_in(list(self.sizes)), polars.col("n_patients") > self.horizon
        )
        names = [
            f"{family} ({horizon:,})" for family, horizon in elsewhere.select("family", "n_patients").iter_rows()
        ]
        return polars.concat([self.at_horizon, elsewhere.with_columns(polars.Series("family", names, polars.String))])

    def few(self) -> list[str]:
        """Some policies for charts that hold no more, the reference first."""
        wanted = [policy for one in MAIN for policy in self.labels if same(policy, one)]
        others = [policy for policy in self.labels if policy not in wanted]
        return [self.reference, *(one for one in (*wanted, *others) if one != self.reference)][:_FEW]

    def differences(self, policy: str, families: Sequence[str] | None = None) -> list[Named]:
        """How much more of the best possible surplus than the reference it has, by family, at the horizon."""
        its = self.at_horizon.filter(policy=policy)
        families = self.large if families is None else families
        return [
            Named(row["family"], _estimate(row["difference"], row["difference_low"], row["difference_high"]))
            for row in its.iter_rows(named=True)
            if row["family"] in families
        ]

    def average(self, policy: str) -> Estimate:
        """The mean over large families, which are independent, of the differences."""
        return mean_of([one.estimate for one in self.differences(policy)])

    def best(self) -> str:
        """The policy whose average is highest; the reference only where it is alone."""
        found = [str(one) for one in self.in_all()["policy"].unique(maintain_order=True) if one != self.reference]
        return max(found, key=lambda one: self.average(one).mean, default=self.reference)

    def misleading(self) -> list[str]:
        """The families in which the frontier counts what is lost."""
        return list(self.frontier["loss_family"].unique(maintain_order=True))

    def value(self, policy: str, family: str, column: str) -> float | None:
        """A number of the results at the horizon, if there is one."""
        found = self.at_horizon.filter(policy=policy, family=family)[column].drop_nulls()
        return float(found[0]) if len(found) else None

    def hybrids(self) -> list[str]:
        """The paper's hybrids that ran: those with a hierarchy in them."""
        return [policy for policy in self.labels if "hierarchical" in policy]

    def least(self, column: str) -> tuple[str, float] | None:
        """The policy with the least regret of a kind, averaged over large families, and that regret, if known."""
        its = self.in_all().drop_nulls(column)
        means = its.group_by("policy", maintain_order=True).agg(polars.col(column).mean()).sort(column)
        return (str(means["policy"][0]), float(means[column][0])) if means.height else None

    def times(self) -> dict[str, float]:
        """Nanoseconds a decision by policy: the median over families of the fewest arms, at the horizon."""
        known = self.at_horizon.drop_nulls("ns_per_decision")
        its = known.filter(polars.col("n_arms") == known["n_arms"].min()).group_by("policy", maintain_order=True)
        return dict(its.agg(polars.col("ns_per_decision").median()).iter_rows())

    def optimum(self) -> polars.DataFrame:
        """The results where the optimum is known."""
        return self.results.filter(polars.col("fraction_of_optimum").is_not_null())


def same(policy: str, other: str) -> bool:
    """Whether two texts are of one policy; a policy that this adhere does not know is only itself."""
    if policy == other:
        return True
    try:
        return as_policy(policy) == as_policy(other)
    except Exception:  # a user's own, of a file that is not loaded
        return False


def odds_of(policy: str) -> tuple[str, float] | None:
    """The odds of a mediated-thompson that is nothing else, and of which kind they are.

    >>> odds_of("mediated-thompson(odds=0.1)"), odds_of("mediated-thompson(fading_odds=2)"), odds_of("thompson")
    (('constant odds', 0.1), ('fading odds', 2.0), None)
    """
    try:
        found = as_policy(policy)
    except Exception:  # a user's own, of a file that is not loaded
        return None
    if not isinstance(found, MediatedThompson):
        return None
    if found.fading_odds is not None:
        return ("fading odds", found.fading_odds)
    return ("constant odds", ODDS if found.odds is None else found.odds)  # as with two arms


def mean_of(estimates: Sequence[Estimate]) -> Estimate:
    """The mean of independent estimates.

    >>> mean_of([Estimate(0.0, 3.0, None, None), Estimate(1.0, 4.0, None, None)]).se
    2.5
    """
    mean = sum(one.mean for one in estimates) / len(estimates)
    se = math.hypot(*(one.se or 0.0 for one in estimates)) / len(estimates)
    return Estimate(mean, se, mean - Z95 * se, mean + Z95 * se)


def chunks(values: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    """So many at a time."""
    for start in range(0, len(values), size):
        yield values[start : start + size]


def _estimate(mean: float, low: float | None, high: float | None) -> Estimate:
    se = None if low is None or high is None else (high - low) / (2 * Z95)
    return Estimate(mean, se, low, high)
