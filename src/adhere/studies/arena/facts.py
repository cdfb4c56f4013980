"""Look up in the arena's tables the facts that its page states and draws."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import polars

from adhere.intervals import Z95, Estimate
from adhere.policies import MediatedThompson, as_policy
from adhere.policies.numerics.mediated_posterior import ODDS
from adhere.report.frontier import not_dominated
from adhere.report.numbers import estimate_in_row
from adhere.studies.arena.cells import POOLED_STROKE
from adhere.studies.framework.words import Tables, ends

REFERENCE, DEFAULT = "thompson", "mediated-thompson"
HORIZON = 2000  # of the heat map and the frontier
LARGE = 20  # number of populations from which a family has a worst 5%
# Policies that charts of a few policies show before others, if they ran.
MAIN = (
    REFERENCE,
    DEFAULT,
    "mediated-thompson(odds=inf)",
    "hierarchical(epsilon-greedy)",
    "thompson-bounded(hierarchical(epsilon-greedy), recycle=true)",
    "thompson-bounded(mediated-thompson)",
    "thompson/actual",
)
_FEW = 6  # number of policies in such a chart
_PANELS = 6  # panels in a figure of curves
# The three kinds of regret: in a sentence, as a panel's title, and as a column's heading.
REGRETS = {
    "regret_recommendation": ("against the best recommendation", "best arm recommended", "lost: best recommended"),
    "regret_treatment": ("against the best treatment", "best arm taken by all", "lost: best taken"),
    "regret_compliers": ("among compliers", "compliers", "lost: compliers"),
}


class Named(NamedTuple):
    """An estimate and its name."""

    name: str
    estimate: Estimate


class Facts:
    """The facts on the page. `horizon` is the horizon of the heat map: 2,000 patients, or the nearest one played."""

    def __init__(self, tables: Tables) -> None:
        self.results, self.curves = tables["results"], tables["curves"]
        self.families, self.left_out = tables["families"], tables["left_out"]
        horizons = self.results["n_patients"].unique().to_list()
        self.horizon = int(min(horizons, key=lambda one: abs(math.log(one / HORIZON))))
        self.longest, self.shortest = int(max(horizons)), int(min(horizons))
        self.at_horizon = self.results.filter(n_patients=self.horizon)
        # Further to the right is better, as on the other axis: losses are below zero.
        opposite = {"loss": "loss", "loss_low": "loss_high", "loss_high": "loss_low"}
        kept = tables["frontier"].filter(n_patients=self.horizon)
        self.frontier = kept.with_columns(**{name: -polars.col(other) for name, other in opposite.items()})
        self.labels = dict(self.results.select("policy", "label").unique(maintain_order=True).iter_rows())
        self.reference = next((one for one in self.labels if same(one, REFERENCE)), next(iter(self.labels)))
        self.default = next((one for one in self.labels if same(one, DEFAULT)), None)
        self.sizes = sizes = dict(self.at_horizon.select("family", "n_populations").iter_rows())
        self.large = [family for family, size in sizes.items() if size >= LARGE]
        # The pooled stroke trials are not a family besides the two trials.
        self.large = self.large or [family for family in sizes if family != POOLED_STROKE] or list(sizes)
        self.single = [family for family in sizes if family not in self.large]

    def in_all(self) -> polars.DataFrame:
        """Return the results in the large families at the horizon, for policies that play in all of them."""
        its = self.at_horizon.filter(polars.col("family").is_in(self.large))
        return its.filter(polars.col("family").n_unique().over("policy") == len(self.large))

    def mapped(self) -> polars.DataFrame:
        """Return the heat map's results: at its horizon and, for families not played there, at longer horizons."""
        elsewhere = self.results.filter(
            ~polars.col("family").is_in(list(self.sizes)), polars.col("n_patients") > self.horizon
        )
        names = [f"{one['family']} ({one['n_patients']:,})" for one in elsewhere.to_dicts()]
        return polars.concat([self.at_horizon, elsewhere.with_columns(polars.Series("family", names, polars.String))])

    def few(self) -> list[str]:
        """Return the policies to draw in charts with room for only a few policies, the reference first."""
        wanted = [policy for one in MAIN for policy in self.labels if same(policy, one)]
        others = [policy for policy in self.labels if policy not in wanted]
        return [self.reference, *(one for one in (*wanted, *others) if one != self.reference)][:_FEW]

    def differences(self, policy: str) -> list[Named]:
        """Return how much more of the best possible surplus a policy gains than the reference, per large family."""
        rows = self.at_horizon.filter(polars.col("family").is_in(self.large), policy=policy).to_dicts()
        return [Named(row["family"], _with_error(estimate_in_row(row, "difference"))) for row in rows]

    def average(self, policy: str) -> Estimate:
        """Return the mean of a policy's differences over the large families, which are independent."""
        return mean_of([one.estimate for one in self.differences(policy)])

    def best(self) -> str:
        """Return the policy with the highest average. It is the reference only if no other policy plays."""
        found = [str(one) for one in self.in_all()["policy"].unique(maintain_order=True) if one != self.reference]
        return max(found, key=lambda one: self.average(one).mean, default=self.reference)

    def misleading(self) -> list[str]:
        """Return the families in which the frontier counts losses."""
        return list(self.frontier["loss_family"].unique(maintain_order=True))

    def hybrids(self) -> list[str]:
        """Return the paper's hybrids that ran: policies that contain a hierarchy."""
        return [policy for policy in self.labels if "hierarchical" in policy]

    def default_by_family(self, tolerated: float) -> tuple[list[str], list[str], list[str]]:
        """Return the families in which the default's difference is surely above 0, below 0, and below `tolerated`."""
        found = [(one.name, ends(one.estimate)) for one in self.differences(self.default or self.reference)]
        ahead = [name for name, (low, _) in found if low > 0]
        return ahead, [name for name, (_, high) in found if high < 0], [n for n, (_, h) in found if h < tolerated]

    def not_ahead_of_hybrids(self, column: str) -> dict[str, list[str]]:
        """Return the large families in which the default is not above one of the paper's hybrids, by hybrid."""
        known = self.at_horizon.filter(polars.col("family").is_in(self.large)).drop_nulls(column)
        own, found = dict(known.filter(policy=self.default).select("family", column).iter_rows()), {}
        for other in self.hybrids():
            its = known.filter(policy=other).select("family", column).iter_rows()
            behind = {family for family, value in its if family in own and own[family] <= value}
            if behind:
                found[other] = [family for family in self.large if family in behind]
        return found

    def n_compared(self) -> int:
        """Return the number of cells in the heat map."""
        return self.mapped().filter(polars.col("policy") != self.reference).height

    def losses(self) -> dict[str, float]:
        """Return each policy's difference in the misleading family where it loses most (negative), by label."""
        return dict(self.frontier.group_by("label", maintain_order=True).agg(polars.col("loss").min()).iter_rows())

    def unbeaten(self) -> list[str]:
        """Return the policies that no other policy beats in both gain and loss, in any misleading family."""
        found = list(self.losses())
        for family in self.misleading():
            its = self.frontier.filter(loss_family=family)
            best = its.filter(not_dominated(its.select("loss", "gain").rows()))["label"].to_list()
            found = [label for label in found if label in best]
        return found

    def gains_most_at_little_loss(self, slight: float) -> tuple[str, float] | None:
        """Return the policy with the largest gain among those that lose no more than `slight`, and its gain."""
        gains = dict(self.frontier.select("label", "gain").iter_rows())
        safe = [(label, gains[label]) for label, loss in self.losses().items() if loss >= slight]
        return max(safe, key=lambda one: one[1], default=None)

    def linear_worst(self, linear: float) -> dict[str, list[str]]:
        """Return, by policy, the families in which its worst case grows linearly while the reference's does not."""
        known = self.results.filter(n_patients=self.longest).drop_nulls("growth_of_worst")
        growth = {(row["policy"], row["family"]): row["growth_of_worst"] for row in known.iter_rows(named=True)}
        found: dict[str, list[str]] = {}
        for (policy, family), power in growth.items():
            if power >= linear > growth.get((self.reference, family), 0.0):
                found.setdefault(policy, []).append(family)
        return found

    def n_in_longest(self) -> int:
        """Return the number of policies that played in the longest trials."""
        return self.results.filter(n_patients=self.longest)["policy"].n_unique()

    def curve_families(self) -> list[list[str]]:
        """Return the families played in long trials, grouped by figure of curves."""
        long = set(self.curves.filter(polars.col("n_patients") >= self.horizon)["family"])
        families = [one for one in self.families["family"] if one in long]
        return [families[start : start + _PANELS] for start in range(0, len(families), _PANELS)]

    def least_lost(self) -> list[str]:
        """Return, for each kind of regret, the policy with the least regret, averaged over large families where
        known.
        """
        said = []
        for column, (words, _, _) in REGRETS.items():
            its = self.in_all().drop_nulls(column)
            means = its.group_by("policy", maintain_order=True).agg(polars.col(column).mean()).sort(column)
            if means.height:
                said.append(f"{words} by {self.labels[means['policy'][0]]} ({means[column][0]:.3f} a patient)")
        return said

    def near_optimum(self) -> tuple[dict[str, Any], list[str]]:
        """Return the first family with a known optimum, and how much of it up to three policies reach, as text."""
        known = self.optimum()
        first = known.row(0, named=True)
        its = known.filter(family=first["family"], n_patients=first["n_patients"])
        reached = dict(its.select("policy", "fraction_of_optimum").iter_rows())
        best = max(reached, key=reached.__getitem__)
        shown = dict.fromkeys(one for one in (best, self.default, self.reference) if one in reached)
        return first, [f"{self.labels[one]} reaches {reached[one]:.0%}" for one in shown if one is not None]

    def seeds(self) -> list[str]:
        """Return the seeds that populations were drawn from."""
        return [str(seed) for seed in self.families["seed"].drop_nulls().unique(maintain_order=True)]

    def sizes_by_family(self) -> dict[str, tuple[int, str]]:
        """Return the number of populations of each family, and the number of runs on each."""
        found = {}
        for (family,), rows in self.results.group_by("family", maintain_order=True):
            least, most = min(rows["n_runs"].to_list()), max(rows["n_runs"].to_list())
            runs = f"{least:,}" if least == most else f"{least:,} to {most:,}"
            found[str(family)] = (rows["n_populations"][0], runs)
        return found

    def timed(self) -> polars.DataFrame:
        """Return the results at the horizon with known times, for families with the fewest arms."""
        known = self.at_horizon.drop_nulls("ns_per_decision")
        return known.filter(polars.col("n_arms") == known["n_arms"].min())

    def times(self) -> dict[str, float]:
        """Return the nanoseconds per decision by policy: the median over families."""
        by_policy = self.timed().group_by("policy", maintain_order=True)
        return dict(by_policy.agg(polars.col("ns_per_decision").median()).iter_rows())

    def optimum(self) -> polars.DataFrame:
        """Return the results with a known optimum."""
        return self.results.filter(polars.col("fraction_of_optimum").is_not_null())


def same(policy: str, other: str) -> bool:
    """Return whether two texts name the same policy. A policy unknown to this adhere equals only itself."""
    if policy == other:
        return True
    try:
        return as_policy(policy) == as_policy(other)
    except Exception:  # a user's own policy in a file that is not loaded
        return False


def odds_of(policy: str) -> tuple[str, float] | None:
    """Return the odds of a plain mediated-thompson and their kind, or None for any other policy.

    >>> odds_of("mediated-thompson(odds=0.1)"), odds_of("mediated-thompson(fading_odds=2)"), odds_of("thompson")
    (('constant odds', 0.1), ('fading odds', 2.0), None)
    """
    try:
        found = as_policy(policy)
    except Exception:  # a user's own policy in a file that is not loaded
        return None
    if not isinstance(found, MediatedThompson):
        return None
    if found.fading_odds is not None:
        return ("fading odds", found.fading_odds)
    return ("constant odds", ODDS if found.odds is None else found.odds)  # as with two arms


def mean_of(estimates: Sequence[Estimate]) -> Estimate:
    """Return the mean of independent estimates.

    >>> mean_of([Estimate(0.0, 3.0, None, None), Estimate(1.0, 4.0, None, None)]).se
    2.5
    """
    mean = sum(one.mean for one in estimates) / len(estimates)
    se = math.hypot(*(one.se or 0.0 for one in estimates)) / len(estimates)
    return Estimate(mean, se, mean - Z95 * se, mean + Z95 * se)


def _with_error(one: Estimate) -> Estimate:
    """Return an estimate with the standard error implied by its interval."""
    return one if one.low is None or one.high is None else replace(one, se=(one.high - one.low) / (2 * Z95))
