"""The figures of the arena's page, made of its tables."""

from __future__ import annotations

import polars

from adhere.report.dots import dots
from adhere.report.frontier import frontier
from adhere.report.growth_curves import Guide, growth_curves
from adhere.report.heat_map import heat_map
from adhere.report.section import ReportFigure
from adhere.studies.arena.facts import Facts, chunks, odds_of

SHARE = "in shares of the best possible surplus"
_PANELS = 6  # of a figure of curves
_REGRETS = {
    "regret_recommendation": "best arm recommended",
    "regret_treatment": "best arm taken by all",
    "regret_compliers": "compliers",
}


def heat_map_figure(facts: Facts) -> ReportFigure | None:
    """Every policy on every family, against the reference, unless that is alone."""
    table = (
        facts.mapped()
        .filter(polars.col("policy") != facts.reference)
        .select(row="label", column="family", mean="difference", low="difference_low", high="difference_high")
    )
    if table.is_empty():
        return None
    reference = facts.labels[facts.reference]
    return ReportFigure(
        "arena-heat-map",
        f"Every policy on every family at {facts.horizon:,} patients (or as many as brackets say): blue above "
        f"{reference}, orange below. A number is a mean over the populations of the family.",
        f"Coloured table: difference from {reference} by policy and family.",
        lambda: heat_map(
            table,
            label=f"difference from {reference}, {SHARE}",
            note=_populations(facts),
        ),
        wide=True,
    )


def worst_figure(facts: Facts) -> ReportFigure | None:
    """The worst 5% of populations, where there are enough to speak of them."""
    worst = polars.coalesce("worst_5_percent_held_out", "worst_5_percent")
    table = (
        facts.at_horizon.filter(polars.col("family").is_in(facts.large), polars.col("policy") != facts.reference)
        .select(row="label", column="family", mean=worst, low=polars.lit(None), high=polars.lit(None))
        .drop_nulls("mean")
    )
    if table.is_empty():
        return None
    reference = facts.labels[facts.reference]
    return ReportFigure(
        "arena-worst",
        f"The worst cases at {facts.horizon:,} patients: the mean difference over the 5% of populations on which the "
        f"policy falls farthest behind {reference}; each policy has its own. They are chosen by one half of the runs "
        "and measured in the other, so that bad luck is not counted; no interval is known.",
        f"Coloured table: mean difference from {reference} in the worst 5% of populations by policy and family.",
        lambda: heat_map(
            table, label=f"difference from {reference} in the worst 5% of populations, {SHARE}", marks=False
        ),
        wide=True,
    )


def _populations(facts: Facts) -> str:
    """How many populations the families have."""
    by_size: dict[int, list[str]] = {}
    for family, size in facts.sizes.items():
        by_size.setdefault(size, []).append(family)
    usual = max(by_size, key=lambda size: len(by_size[size]))
    others = [f"{family} {size:,}" for size, its in by_size.items() for family in its if size != usual]
    return f"Populations: {usual:,} in each family" + (f", but {', '.join(others)}." if others else ".")


def frontier_figures(facts: Facts) -> list[ReportFigure]:
    """Gain where the reward depends on the arm taken alone against what is lost in each family where it does not."""
    return [_frontier_figure(facts, family) for family in facts.misleading()]


def _frontier_figure(facts: Facts, family: str) -> ReportFigure:
    its = facts.frontier.filter(loss_family=family)
    odds = [odds_of(policy) or (None, None) for policy in its["policy"]]
    series, values = (list(column) for column in zip(*odds, strict=True))
    columns = {
        f"{axis}{end}": f"{name}{end}"
        for axis, name in (("x", "loss"), ("y", "gain"))
        for end in ("", "_low", "_high")
    }
    table = (
        its.with_columns(
            polars.Series("odds", values, polars.Float64),
            polars.Series("series", series, polars.String),
            polars.Series("label", [_short(facts, *one) for one in its.select("policy", "label").iter_rows()]),
        )
        .sort("odds", maintain_order=True, nulls_last=True)
        .select("label", "series", **columns)
    )
    reference = facts.labels[facts.reference]
    return ReportFigure(
        f"arena-frontier-{family}",
        f"Unconfounded against {family} at {facts.horizon:,} patients: differences from {reference}, {SHARE}. Up and "
        "to the right is better. Lines join MediatedThompson by its odds: constant ones (∞ is Stirn and Jebara's) "
        "and fading ones.",
        f"Points with intervals both ways: difference from {reference} where unconfounded and where {family}.",
        lambda: frontier(
            table,
            x_label=f"{family}: difference from {reference}",
            y_label=f"unconfounded: difference from {reference}",
            note="95% intervals over populations, both ways.",
        ),
        wide=True,
    )


def _short(facts: Facts, policy: str, label: str) -> str:
    """A name for a crowded figure, in which a line says what odds are of."""
    odds = odds_of(policy)
    if odds is None or policy == facts.default:
        return label
    return f"{odds[0].removesuffix(' odds').replace('constant', 'odds')} {odds[1]:g}".replace("inf", "∞")


def curve_figures(facts: Facts) -> list[ReportFigure]:
    """Regret as trials grow, family by family, of a few policies."""
    few = facts.few()
    longest = polars.col("n_patients") == polars.col("n_patients").max().over("family")
    table = facts.curves.filter(polars.col("policy").is_in(few), longest).with_columns(
        population="family",
        n_patients="t",
        name=polars.col("policy").replace_strict(facts.labels),
        mean="regret",
        low="regret_low",
        high="regret_high",
    )
    order = {policy: place for place, policy in enumerate(few)}
    table = table.sort(polars.col("policy").replace_strict(order), maintain_order=True)
    long = set(facts.curves.filter(polars.col("n_patients") >= facts.horizon)["family"])
    families = [one for one in facts.families["family"] if one in long]
    found = []
    for number, some in enumerate(chunks(families, _PANELS), 1):
        place = {family: where for where, family in enumerate(some)}
        its = table.filter(polars.col("family").is_in(some)).sort(
            polars.col("family").replace_strict(place, default=None), maintain_order=True
        )
        found.append(
            ReportFigure(
                f"arena-curves-{number}",
                f"Regret against the best recommendation as trials grow, {', '.join(some)}: means over populations, "
                "95% intervals. Both axes are logarithmic: whatever is parallel to T loses a fixed share for ever.",
                f"Curves on logarithmic axes: regret by policy on {', '.join(some)}.",
                lambda its=its: growth_curves(its, "log", _guides(its), n_columns=2),  # type: ignore[misc]
            )
        )
    return found


def _guides(table: polars.DataFrame) -> list[Guide]:
    """A curve that grows like T, in each panel, where it can be seen."""
    found = []
    for (family,), rows in table.group_by("family", maintain_order=True):
        last = rows.filter(n_patients=rows["n_patients"].max())
        highest = max(last["mean"].to_list())
        found.append(Guide("T", 1.0, highest / float(last["n_patients"][0]), str(family)))
    return found


def regrets_figure(facts: Facts) -> ReportFigure:
    """Three regrets of a few policies, side by side."""
    rows = []
    for family in facts.large:
        for policy in facts.few():
            its = facts.at_horizon.filter(family=family, policy=policy)
            for column, title in _REGRETS.items() if its.height else ():
                mean, low, high = its.select(column, f"{column}_low", f"{column}_high").row(0)
                if mean is not None:
                    who = {"row": family, "panel": title, "style": facts.labels[policy]}
                    rows.append({**who, "mean": mean, "low": low, "high": high})
    return ReportFigure(
        "arena-regrets",
        f"Regret for each patient in trials of {facts.horizon:,}, three ways: reward lost against always "
        "recommending the best arm, against everybody taking the best arm, and what compliers lose against "
        "their best arm. Below zero, people choose better for themselves than any one arm is for all.",
        "Dots with intervals: three regrets by family and policy.",
        lambda: dots(
            polars.DataFrame(rows),
            x_label="reward lost by a patient",
            zero="",
            note="95% intervals over populations.",
        ),
    )


def optimum_figure(facts: Facts) -> ReportFigure | None:
    """Every policy as a fraction of the optimum, where that was computed."""
    known = facts.optimum()
    if known.is_empty():
        return None
    scale = polars.col("fraction_of_optimum") / polars.col("surplus")  # that is, over the optimum
    table = known.select(
        row="label",
        panel=polars.format("{}, {} patients", "family", "n_patients"),
        mean="fraction_of_optimum",
        low=scale * polars.col("surplus_low"),
        high=scale * polars.col("surplus_high"),
    )
    return ReportFigure(
        "arena-optimum",
        "Surplus as a fraction of that of bayes-optimal, which no policy can exceed but by chance.",
        "Dots with intervals: fraction of the optimum by policy.",
        lambda: dots(table, x_label="fraction of the optimum", note="95% intervals over populations."),
    )


def time_figure(facts: Facts) -> ReportFigure:
    """How long a decision takes."""
    times = (
        facts.at_horizon.filter(n_arms=2)
        .drop_nulls("ns_per_decision")
        .group_by("label", maintain_order=True)
        .agg(
            mean=polars.col("ns_per_decision").median(),
            low=polars.col("ns_per_decision").min(),
            high=polars.col("ns_per_decision").max(),
        )
        .sort("mean")
        .with_columns(row="label", panel=polars.lit(""))
    )
    return ReportFigure(
        "arena-time",
        f"Time a decision on this machine, two arms, {facts.horizon:,} patients: the median over families, and from "
        "the least to the most.",
        "Dots with ranges: nanoseconds a decision by policy.",
        lambda: dots(times, x_label="nanoseconds a decision, patient and learning included", zero="", note=""),
    )
