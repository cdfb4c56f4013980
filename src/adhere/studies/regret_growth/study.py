"""Check Theorems 1 and 2: how regret grows with the number of patients, from a hundred to a million.

Regret grows with T, but its spread over runs does not shrink, so short trials need many runs and long ones few. Each
T is simulated separately, because EXP3's γ depends on it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars

from adhere.errors import joined
from adhere.populations import ComplianceType, ComplianceTypes
from adhere.populations.examples import defiers
from adhere.report.dots import Reference, dots
from adhere.report.headline_chart import headline_growth
from adhere.report.lines import Guide
from adhere.report.numbers import columns_of, estimate_in_row, estimate_texts, interval_in, share
from adhere.simulation import Outcome, SimulationResult
from adhere.simulation.results.outcome import Config
from adhere.studies.framework.study import Experiment, Study, Tables
from adhere.studies.framework.words import TYPES_HEADER, Cells, Charts, section_of, type_rows
from adhere.studies.lineup import growth_chart
from adhere.studies.regret_growth import slopes
from adhere.studies.regret_growth.slopes import LOGARITHMIC, ROOT, TOLERANCE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

N_PATIENTS = tuple(round(10 ** (half / 2)) for half in range(4, 13))


def confounded(name: str, always: float, complier: tuple[float, float]) -> ComplianceTypes:
    """Return a population in which half always take the treatment and do well; the others comply and are harmed by
    it.

    Actual and Comply both prefer the treatment, however often it is chosen, so the experts of a hybrid mislead it.
    """
    types = [
        ComplianceType("always-taker", 0.5, reward=(None, always)),
        ComplianceType("complier", 0.5, reward=complier),
    ]
    return ComplianceTypes(name, ("control", "treatment"), types)


CONFOUNDED = confounded("confounded", 0.95, (0.45, 0.05))
FAINT = confounded("faintly confounded", 0.75, (0.5, 0.3))  # the same, with half the gap between the arms
DEFIERS = defiers()
POPULATIONS = (CONFOUNDED, DEFIERS, FAINT)

ROOT_HYBRID, THOMPSON_HYBRID, ANNEALED_HYBRID = (
    f"hierarchical({base})" for base in ("exp3", "thompson", "epsilon-greedy")
)
PROVEN, HEADLINE = (f"thompson-bounded({ANNEALED_HYBRID}{option})" for option in ("", ", recycle=true"))
RECYCLING = "hierarchical(thompson, recycle=true)"
NAIVE = "thompson/actual"
SUBLINEAR = "o(T)"  # no-regret, at no stated rate
# The name of each policy, and the growth that the paper promises: Proposition 1 for the policies under Chosen. The
# proof of Theorem 2 does not cover recycling, which the stroke study uses for its headline.
_POLICIES = {
    "thompson": ("Thompson", LOGARITHMIC),
    PROVEN: ("ThompsonBounded on ε-greedy", LOGARITHMIC),
    HEADLINE: ("ThompsonBounded on ε-greedy, recycling", LOGARITHMIC),
    "exp3": ("EXP3", ROOT),
    ROOT_HYBRID: ("HierarchicalBandit on EXP3", ROOT),
    THOMPSON_HYBRID: ("HierarchicalBandit on Thompson", SUBLINEAR),
    "epsilon-greedy": ("ε-greedy", ""),
    ANNEALED_HYBRID: ("HierarchicalBandit on ε-greedy", ""),
    NAIVE: ("Thompson under Actual", ""),
}
NAMES = {policy: name for policy, (name, _) in _POLICIES.items()}
PROMISES = {policy: promise for policy, (_, promise) in _POLICIES.items()}
SLOW = tuple(policy for policy, promise in PROMISES.items() if promise == LOGARITHMIC)
FAST = tuple(policy for policy in PROMISES if policy not in SLOW)

# The numbers of runs for N_PATIENTS that give exponents within ±0.05, near multiples of a thread's chunk of work.
_SLOW_RUNS = (2048, 2048, 2048, 662, 832, 231, 96, 64, 32)
_FAST_RUNS = (512, 512, 512, 166, 104, 33, 16, 8, 8)
STUCK_RUNS = {(THOMPSON_HYBRID, 10_000): 832, (RECYCLING, 10_000): 832, (THOMPSON_HYBRID, 100_000): 192}


# One simulation per number of patients, separately for the policies that need many runs and few runs.
_SIZES = {"slow": (SLOW, [CONFOUNDED], _SLOW_RUNS), "fast": (FAST, [CONFOUNDED, DEFIERS], _FAST_RUNS)}
EXPERIMENTS = {
    f"{name}-{t}": Experiment(policies, populations, t, n_runs, grid=[t])
    for name, (policies, populations, all_runs) in _SIZES.items()
    for t, n_runs in zip(N_PATIENTS, all_runs, strict=True)
} | {
    f"stuck-{policy}-{t}": Experiment([policy], [FAINT], t, n_runs, grid=[t])
    for (policy, t), n_runs in STUCK_RUNS.items()
}

_FITTED = {"early": "T from 10² to 10⁴", "late": "T from 10⁴ to 10⁶"}
_KNOWN = {"√T": 0.5, "T": 1.0}
_NAMED = {"name": "learner and strategy", "population": "population"}
_EXPONENTS = {
    **_NAMED,
    "promise": "promised",
    "early": "exponent 10²–10⁴",
    "late": "exponent 10⁴–10⁶",
    "order": "grows like",
    "shows": "shows",
    "policy": "policy",
}
_COSTS = {
    **_NAMED,
    "decade_before_last": "cost 10⁴–10⁵",
    "last_decade": "cost 10⁵–10⁶",
    "bend": "difference of the two",
}

EARLY, LATE = (100, 10_000), (10_000, 1_000_000)  # exponents are fitted to two decades at a time
DECADES = (10_000, 100_000, 1_000_000)


def make_tables(results: Mapping[str, SimulationResult]) -> Tables:
    """Return tables of regret at each T, its growth, the runs that end on the worse arm, and each protocol's view."""
    found = {
        (one.population, one.policy, result.config.n_patients): _point(one, result.config)
        for result in results.values()
        for one in result.outcomes
    }
    regret = [
        found[population.name, policy, t]
        for population in (CONFOUNDED, DEFIERS)
        for policy in PROMISES
        for t in N_PATIENTS
        if (population.name, policy, t) in found
    ]
    stuck = [found[FAINT.name, policy, t] for policy, t in STUCK_RUNS]
    table = polars.DataFrame(regret)
    groups = table.group_by("population", "policy", maintain_order=True)
    return {
        "regret": table,
        "growth": polars.DataFrame([_growth(str(name), str(policy), rows) for (name, policy), rows in groups]),
        "stuck": polars.DataFrame(
            [{**row, **columns_of(share(row["ended_wrong"], row["n_runs"]), "share")} for row in stuck]
        ),
        "gaps": polars.DataFrame([_gaps(one) for one in POPULATIONS]),
        "populations": polars.DataFrame([row for one in POPULATIONS for row in _types(one)]),
    }


def _point(one: Outcome, config: Config) -> dict[str, Any]:
    """Return one policy's regret in trials of one length, with an interval by Student's t, because runs may be
    few.
    """
    n_wrong = round(config.n_runs * (1.0 - one.favours_best_arm.mean))
    counts = {"n_patients": config.n_patients, "n_runs": config.n_runs, "ended_wrong": n_wrong}
    assert one.regret.se is not None
    regret = slopes.combination([1.0], [one.regret.mean], [one.regret.se], [config.n_runs])
    return {"population": one.population, "policy": one.policy, **counts, **vars(regret)}


def _growth(population: str, policy: str, rows: polars.DataFrame) -> dict[str, Any]:
    """Return exponents over both halves of the range, the regret of the last two decades, and the order of growth."""
    figures = {}
    for name, ends in (("early", EARLY), ("late", LATE)):
        stretch = rows.filter(rows["n_patients"].is_between(*ends))
        figures[name] = slopes.exponent(stretch["n_patients"].to_list(), *_means(stretch))
    decades = _means(rows.filter(rows["n_patients"].is_in(DECADES)))
    figures["decade_before_last"], figures["last_decade"] = slopes.increments(*decades)
    figures["bend"] = slopes.bend(*decades)
    growth: dict[str, Any] = {"population": population, "policy": policy, "runs_of_longest": rows["n_runs"][-1]}
    for name, one in figures.items():
        growth |= columns_of(one, name)
    order, promise = slopes.order_of_growth(figures["late"], figures["bend"]), PROMISES[policy]
    shows = {
        "": None,
        LOGARITHMIC: order == LOGARITHMIC,
        ROOT: order in (LOGARITHMIC, ROOT),
        SUBLINEAR: growth["late_high"] < 1.0,
    }
    return {**growth, "order": order, "promise": promise, "shows": shows[promise]}


def _means(rows: polars.DataFrame) -> tuple[list[float], list[float], list[int]]:
    return rows["mean"].to_list(), rows["se"].to_list(), rows["n_runs"].to_list()


def _types(population: ComplianceTypes) -> list[dict[str, Any]]:
    """Return the compliance types of a population and their mean rewards, so that a reader can rebuild it."""
    return [
        {"population": population.name, "compliance_type": one.name, "probability": one.probability}
        | dict(zip(population.arms, one.reward, strict=True))
        for one in population.types
    ]


def _gaps(population: ComplianceTypes) -> dict[str, Any]:
    """Return how much better the control looks than the treatment to each protocol if both are chosen equally
    often.
    """
    views = {
        "chosen": population.mean_given_chosen(),
        "actual": population.mean_given_actual(),
        "comply": np.diag(population.mean_given_both()),
    }
    gaps = {protocol: float(means[0] - means[1]) for protocol, means in views.items()}
    return {"population": population.name, **{name: None if np.isnan(gap) else gap for name, gap in gaps.items()}}


class Facts:
    """The tables, looked up by population and policy."""

    def __init__(self, tables: Tables) -> None:
        self.regret, self.growth, self.stuck = tables["regret"], tables["growth"], tables["stuck"]
        self.populations = tables["populations"]
        self.gaps = {row["population"]: row["chosen"] for row in tables["gaps"].to_dicts()}

    def rows(self, policy: str) -> list[dict[str, Any]]:
        """Return the growth of a policy's regret on each population."""
        return self.growth.filter(policy=policy).to_dicts()

    def orders(self, policy: str) -> set[str]:
        """Return the orders of growth of a policy's regret on all populations."""
        return {row["order"] for row in self.rows(policy)}

    def powers(self, policy: str, intervals: bool = True) -> str:
        """Return a policy's exponents on each of its populations, as text."""
        rows = self.rows(policy)
        texts = zip(texts_in(rows, "late", intervals), rows, strict=True)
        return joined([f"{text} on {row['population']}" for text, row in texts])

    def text(self, policy: str, name: str, intervals: bool = True) -> str:
        """Return an estimate for a policy that was run on one population, as text."""
        return texts_in(self.rows(policy), name, intervals)[0]

    def stuck_text(self, policy: str = THOMPSON_HYBRID) -> str:
        """Return how many trials ended on the worse arm, by their length, as text."""
        rows = self.stuck.filter(policy=policy).to_dicts()
        return joined([f"{one['ended_wrong']} of {one['n_runs']:,} trials of {one['n_patients']:,}" for one in rows])

    def recycling_helps(self) -> bool:
        """Return whether recycling surely makes fewer trials of the same length end on the worse arm."""
        (with_it,) = self.stuck.filter(policy=RECYCLING).to_dicts()
        (without,) = self.stuck.filter(policy=THOMPSON_HYBRID, n_patients=with_it["n_patients"]).to_dicts()
        return interval_in(with_it, "share").high < interval_in(without, "share").low

    def widest(self) -> float:
        """Return half the width of the widest interval of an exponent."""
        rows = self.growth.to_dicts()
        return max(float(row[f"{name}_high"] - row[f"{name}_low"]) / 2 for row in rows for name in ("early", "late"))

    def guarantees_show(self) -> bool:
        """Return whether the policy without a guarantee has the most regret in the longest trials."""
        its = self.regret.filter(population=CONFOUNDED.name, n_patients=N_PATIENTS[-1])
        naive, *others = (its.filter(policy=policy)["mean"][0] for policy in (NAIVE, ROOT_HYBRID, PROVEN))
        return bool(naive > max(others))


def texts_in(rows: Sequence[Mapping[str, Any]], name: str, intervals: bool = True) -> list[str]:
    """Return an estimate for each row as text."""
    return estimate_texts([estimate_in_row(row, name) for row in rows], intervals=intervals)


def charts(facts: Facts) -> Charts:
    """Return charts of regret against T (one or both axes logarithmic), of exponents, and for the report's top."""
    regret, growth = _named(facts.regret), _named(facts.growth)
    steep = [Guide("T", 1.0, 1.6 * facts.gaps[name], name) for name in (CONFOUNDED.name, DEFIERS.name)]
    shown = {NAIVE: NAMES[NAIVE], ROOT_HYBRID: NAMES[ROOT_HYBRID], PROVEN: "ThompsonBounded"}
    table = facts.regret.filter(population=CONFOUNDED.name).with_columns(name="policy")
    return {
        "regret-growth": lambda: growth_chart(
            regret.filter(regret["policy"].is_in(FAST)), [*steep, Guide("√T", 0.5, 1.0)], n_columns=1
        ),
        "regret-growth-logarithmic": lambda: growth_chart(
            regret.filter(regret["policy"].is_in(SLOW)), [Guide("√T", 0.5, 0.4)], n_columns=1, log_y=False
        ),
        "regret-growth-exponents": lambda: _exponent_chart(growth),
        "headline-regret": lambda: headline_growth(
            "Regret in longer trials", table, {one: one == NAIVE for one in shown}, shown
        ),
    }


def _exponent_chart(growth: polars.DataFrame) -> Figure:
    """Draw exponents by population and policy in a panel per stretch of T, with bands around well-known exponents."""
    stretches = [
        growth.select(
            row="name", group="population", panel=polars.lit(title), mean=name, low=f"{name}_low", high=f"{name}_high"
        )
        for name, title in _FITTED.items()
    ]
    bands = [
        Reference(f"{label} ({at:g} ± {TOLERANCE:g})", panel, at - TOLERANCE, at + TOLERANCE, at)
        for label, at in _KNOWN.items()
        for panel in _FITTED.values()
    ]
    return dots(polars.concat(stretches), x_label="exponent of T", references=bands, zero="regret does not grow")


def _named(table: polars.DataFrame) -> polars.DataFrame:
    return table.with_columns(name=polars.col("policy").replace_strict(NAMES, return_dtype=polars.String))


def cells(facts: Facts) -> Cells:
    """Return tables of how regret grows for each policy and population, and of the populations."""
    rows = _named(facts.growth).to_dicts()
    types = type_rows((row[0], row[1], row[2:]) for row in facts.populations.rows())
    return {
        "growth": (tuple(_EXPONENTS.values()), [[_cell(row, name) for name in _EXPONENTS] for row in rows]),
        "costs": (tuple(_COSTS.values()), [[_cell(row, name) for name in _COSTS] for row in rows]),
        "types": (TYPES_HEADER, types),
    }


def _cell(row: Mapping[str, Any], name: str) -> str:
    value = row[name]
    if isinstance(value, float):
        return estimate_texts([estimate_in_row(row, name)])[0]
    if name == "shows" and value is not None:
        return f"{'yes' if value else 'no'}, in {row['runs_of_longest']} runs"
    return {"": "nothing", None: "–"}.get(value, str(value))


STUDY = Study(
    "regret-growth",
    "Regret growth (Theorems 1 and 2)",
    EXPERIMENTS,
    make_tables,
    section_of(__name__, Facts, charts, cells),
)
