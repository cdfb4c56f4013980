"""The tables of the study of regret growth."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars

from adhere.populations import Strata
from adhere.report.proportions import share
from adhere.simulation import Outcome, SimulationResult
from adhere.simulation.result import Config
from adhere.studies.framework.study import Tables
from adhere.studies.regret_growth.experiments import (
    CONFOUNDED,
    DEFIERS,
    FAINT,
    N_PATIENTS,
    POPULATIONS,
    PROMISES,
    STUCK_RUNS,
    SUBLINEAR,
)
from adhere.studies.regret_growth.slopes import (
    LOGARITHMIC,
    ROOT,
    bend,
    combination,
    exponent,
    increments,
    order_of_growth,
)

EARLY, LATE = (100, 10_000), (10_000, 1_000_000)  # exponents are fitted to two decades at a time
DECADES = (10_000, 100_000, 1_000_000)


def make_tables(results: Mapping[str, SimulationResult]) -> Tables:
    """Regret at each T, how it grows, how many runs end on the worse arm, and what each protocol sees."""
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
