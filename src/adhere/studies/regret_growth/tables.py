"""The tables of the study of regret growth, and what they say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars

from adhere.populations import ComplianceTypes
from adhere.report.numbers import columns_of, estimate_in_row, estimate_texts, interval_in, share
from adhere.simulation import Outcome, SimulationResult
from adhere.simulation.config import Config
from adhere.studies.framework.study import Tables
from adhere.studies.framework.words import listed
from adhere.studies.regret_growth import slopes
from adhere.studies.regret_growth.experiments import (
    CONFOUNDED,
    DEFIERS,
    FAINT,
    N_PATIENTS,
    POPULATIONS,
    PROMISES,
    RECYCLING,
    STUCK_RUNS,
    SUBLINEAR,
    THOMPSON_HYBRID,
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
            [{**row, **share(row["ended_wrong"], row["n_runs"]).columns("share")} for row in stuck]
        ),
        "gaps": polars.DataFrame([_gaps(one) for one in POPULATIONS]),
        "populations": polars.DataFrame([row for one in POPULATIONS for row in _types(one)]),
    }


def _point(one: Outcome, config: Config) -> dict[str, Any]:
    """One policy's regret in trials of one length, with an interval by Student's t, for runs may be few."""
    n_wrong = round(config.n_runs * (1.0 - one.favours_best_arm.mean))
    counts = {"n_patients": config.n_patients, "n_runs": config.n_runs, "ended_wrong": n_wrong}
    assert one.regret.se is not None
    regret = slopes.combination([1.0], [one.regret.mean], [one.regret.se], [config.n_runs])
    return {"population": one.population, "policy": one.policy, **counts, **vars(regret)}


def _growth(population: str, policy: str, rows: polars.DataFrame) -> dict[str, Any]:
    """Exponents over the two halves of the range, what the last decades cost, and what that looks like."""
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
        slopes.LOGARITHMIC: order == slopes.LOGARITHMIC,
        slopes.ROOT: order in (slopes.LOGARITHMIC, slopes.ROOT),
        SUBLINEAR: growth["late_high"] < 1.0,
    }
    return {**growth, "order": order, "promise": promise, "shows": shows[promise]}


def _means(rows: polars.DataFrame) -> tuple[list[float], list[float], list[int]]:
    return rows["mean"].to_list(), rows["se"].to_list(), rows["n_runs"].to_list()


def _types(population: ComplianceTypes) -> list[dict[str, Any]]:
    """Who is in a population, and their mean rewards, so that a reader can build it again."""
    return [
        {"population": population.name, "compliance_type": one.name, "probability": one.probability}
        | dict(zip(population.arms, one.reward, strict=True))
        for one in population.types
    ]


def _gaps(population: ComplianceTypes) -> dict[str, Any]:
    """By how much the control looks better than the treatment to each protocol, both equally often chosen."""
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

    def text(self, policy: str, name: str, intervals: bool = True) -> str:
        """An estimate for a policy that was run on one population, by the name of its columns."""
        return texts_in(self.rows(policy), name, intervals)[0]

    def missed(self, policy: str) -> str:
        """How much more it could cost and still pass for a straight line."""
        (row,) = self.rows(policy)
        return f"its {row['runs_of_longest']} runs could miss up to {row['bend_high']:.0f}"

    def n_stuck(self) -> int:
        """How many trials of the hierarchy on Thompson ended on the worse arm."""
        return int(self.stuck.filter(policy=THOMPSON_HYBRID)["ended_wrong"].sum())

    def stuck_text(self, policy: str = THOMPSON_HYBRID) -> str:
        """How many trials ended on the worse arm, by their length."""
        rows = self.stuck.filter(policy=policy).to_dicts()
        return listed([f"{one['ended_wrong']} of {one['n_runs']:,} trials of {one['n_patients']:,}" for one in rows])

    def recycling_helps(self) -> bool:
        """Whether, of trials of one length, surely fewer ended on the worse arm."""
        (with_it,) = self.stuck.filter(policy=RECYCLING).to_dicts()
        (without,) = self.stuck.filter(policy=THOMPSON_HYBRID, n_patients=with_it["n_patients"]).to_dicts()
        return interval_in(with_it, "share").high < interval_in(without, "share").low


def texts_in(rows: Sequence[Mapping[str, Any]], name: str, intervals: bool = True) -> list[str]:
    """An estimate of each row, by the name of its columns."""
    return estimate_texts([estimate_in_row(row, name) for row in rows], intervals=intervals)
