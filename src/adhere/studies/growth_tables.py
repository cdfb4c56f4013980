"""The simulations of the study of regret growth, and the tables made of them.

Regret grows with T, but its spread over runs does not shrink, so that a short trial needs many runs and a long one is
content with few. Each T is run anew, for EXP3's γ follows from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from adhere.populations import Strata, Stratum
from adhere.populations.examples import defiers
from adhere.report.proportions import share
from adhere.simulation import Outcome, SimulationResult
from adhere.simulation.result import Config
from adhere.studies.slopes import LOGARITHMIC, ROOT, bend, combination, exponent, increments, order_of_growth
from adhere.studies.study import Experiment, runs

if TYPE_CHECKING:
    import polars

    from adhere.studies.study import Tables

N_PATIENTS = tuple(round(10 ** (half / 2)) for half in range(4, 13))
EARLY, LATE = (100, 10_000), (10_000, 1_000_000)  # exponents are fitted to two decades at a time
DECADES = (10_000, 100_000, 1_000_000)


def confounded(name: str, always: float, complier: tuple[float, float]) -> Strata:
    """Half always take the treatment and do well; the other half comply and are harmed by it.

    Actual and Comply both prefer the treatment, however often it is chosen: what a hybrid listens to misleads it.
    """
    strata = [Stratum("always-taker", 0.5, reward=(None, always)), Stratum("complier", 0.5, reward=complier)]
    return Strata(name, ("control", "treatment"), strata)


CONFOUNDED = confounded("confounded", 0.95, (0.45, 0.05))
FAINT = confounded("faintly confounded", 0.75, (0.5, 0.3))  # the same with half the gap between the arms
DEFIERS = defiers()
POPULATIONS = (CONFOUNDED, DEFIERS, FAINT)

ROOT_HYBRID, THOMPSON_HYBRID, ANNEALED_HYBRID = (
    f"hierarchical({base})" for base in ("exp3", "thompson", "epsilon-greedy")
)
PROVEN, HEADLINE = (f"thompson-bounded({ANNEALED_HYBRID}{option})" for option in ("", ", recycle=true"))
BOUNDED = (PROVEN, HEADLINE)  # Theorem 2's proof holds for the first; the second is what the stroke study reports
RECYCLING = "hierarchical(thompson, recycle=true)"
NAIVE = "thompson/actual"
SUBLINEAR = "o(T)"  # no regret, at no stated rate
# What the paper promises of each policy; Proposition 1 for those under Chosen.
PROMISES = {
    "thompson": LOGARITHMIC,
    **dict.fromkeys(BOUNDED, LOGARITHMIC),
    "exp3": ROOT,
    ROOT_HYBRID: ROOT,
    THOMPSON_HYBRID: SUBLINEAR,
    "epsilon-greedy": "",
    ANNEALED_HYBRID: "",
    NAIVE: "",
}
NAMES = {
    "thompson": "Thompson",
    PROVEN: "ThompsonBounded on ε-greedy",
    HEADLINE: "ThompsonBounded on ε-greedy, recycling",
    "exp3": "EXP3",
    ROOT_HYBRID: "HierarchicalBandit on EXP3",
    THOMPSON_HYBRID: "HierarchicalBandit on Thompson",
    "epsilon-greedy": "ε-greedy",
    ANNEALED_HYBRID: "HierarchicalBandit on ε-greedy",
    NAIVE: "Thompson under Actual",
}
SLOW = tuple(policy for policy, promise in PROMISES.items() if promise == LOGARITHMIC)
FAST = tuple(policy for policy in PROMISES if policy not in SLOW)

# For each of N_PATIENTS, how many runs give exponents within ±0.05; near multiples of what a thread takes at a time.
_SLOW_RUNS = (2048, 2048, 2048, 662, 832, 231, 96, 64, 32)
_FAST_RUNS = (512, 512, 512, 166, 104, 33, 16, 8, 8)
_STUCK_RUNS = {(THOMPSON_HYBRID, 10_000): 832, (RECYCLING, 10_000): 832, (THOMPSON_HYBRID, 100_000): 192}


def experiments(quick: bool) -> Mapping[str, Experiment]:
    """A simulation for each number of patients, of the policies that need many runs and of those that need few."""
    planned: dict[str, Experiment] = {}
    for t, slow, fast in zip(N_PATIENTS, _SLOW_RUNS, _FAST_RUNS, strict=True):
        planned[f"slow-{t}"] = Experiment(SLOW, [CONFOUNDED], t, runs(slow, quick), grid=[t])
        planned[f"fast-{t}"] = Experiment(FAST, [CONFOUNDED, DEFIERS], t, runs(fast, quick), grid=[t])
    for (policy, t), n_runs in _STUCK_RUNS.items():
        planned[f"stuck-{policy}-{t}"] = Experiment([policy], [FAINT], t, runs(n_runs, quick), grid=[t])
    return planned


def tables(results: Mapping[str, SimulationResult]) -> Tables:
    """Regret at each T, how it grows, how many runs end on the worse arm, and what each protocol sees."""
    import polars

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
    stuck = [found[FAINT.name, policy, t] for policy, t in _STUCK_RUNS]
    table = polars.DataFrame(regret)
    groups = table.group_by("population", "policy", maintain_order=True)
    return {
        "regret": table,
        "growth": polars.DataFrame([_growth(str(name), str(policy), rows) for (name, policy), rows in groups]),
        "stuck": polars.DataFrame(
            [{**row, **share(row["ended_wrong"], row["runs"]).columns("share")} for row in stuck]
        ),
        "gaps": polars.DataFrame([_gaps(one) for one in POPULATIONS]),
        "populations": polars.DataFrame([row for one in POPULATIONS for row in _strata(one)]),
    }


def _point(one: Outcome, config: Config) -> dict[str, Any]:
    """One policy's regret in trials of one length, with an interval by Student's t, for runs may be few."""
    n_wrong = round(config.n_runs * (1.0 - one.favours_best_arm.mean))
    counts = {"patients": config.n_patients, "runs": config.n_runs, "ended_wrong": n_wrong}
    assert one.regret.se is not None
    regret = combination([1.0], [one.regret.mean], [one.regret.se], [config.n_runs])
    return {"population": one.population, "policy": one.policy, **counts, **vars(regret)}


def _growth(population: str, policy: str, rows: polars.DataFrame) -> dict[str, Any]:
    """Exponents over the two halves of the range, what the last decades cost, and what that looks like."""
    figures = {}
    for name, ends in (("early", EARLY), ("late", LATE)):
        stretch = rows.filter(rows["patients"].is_between(*ends))
        figures[name] = exponent(stretch["patients"].to_list(), *_means(stretch))
    decades = _means(rows.filter(rows["patients"].is_in(DECADES)))
    figures["decade_before_last"], figures["last_decade"] = increments(*decades)
    figures["bend"] = bend(*decades)
    columns: dict[str, Any] = {
        f"{name}{suffix}": value
        for name, one in figures.items()
        for suffix, value in (("", one.mean), ("_lo", one.lo), ("_hi", one.hi))
    }
    order, promise = order_of_growth(figures["late"], figures["bend"]), PROMISES[policy]
    shows = {
        "": None,
        LOGARITHMIC: order == LOGARITHMIC,
        ROOT: order in (LOGARITHMIC, ROOT),
        SUBLINEAR: columns["late_hi"] < 1.0,
    }
    names = {"population": population, "policy": policy, "runs_of_longest": rows["runs"][-1]}
    return {**names, **columns, "order": order, "promise": promise, "shows": shows[promise]}


def _means(rows: polars.DataFrame) -> tuple[list[float], list[float], list[int]]:
    return rows["mean"].to_list(), rows["se"].to_list(), rows["runs"].to_list()


def _strata(population: Strata) -> list[dict[str, Any]]:
    """Who is in a population, and their mean rewards, so that a reader can build it again."""
    return [
        {"population": population.name, "stratum": one.name, "probability": one.probability}
        | dict(zip(population.arms, one.reward, strict=True))
        for one in population.strata
    ]


def _gaps(population: Strata) -> dict[str, Any]:
    """By how much the control looks better than the treatment to each protocol, both equally often chosen."""
    views = {
        "chosen": population.mean_given_chosen(),
        "actual": population.mean_given_actual(),
        "comply": np.diag(population.mean_given_both()),
    }
    gaps = {protocol: float(means[0] - means[1]) for protocol, means in views.items()}
    return {"population": population.name, **{name: None if np.isnan(gap) else gap for name, gap in gaps.items()}}
