"""Make the charts and tables of the arena's page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import polars

from adhere.report.dots import dots
from adhere.report.frontier import frontier
from adhere.report.heat_map import heat_map
from adhere.report.lines import Guide
from adhere.report.numbers import estimate_in_row, estimate_texts
from adhere.studies.arena.facts import REGRETS, Facts, odds_of
from adhere.studies.framework.words import Cells, Charts, Table
from adhere.studies.lineup import growth_chart

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SHARE = "in shares of the best possible surplus"
_INTERVALS = "95% intervals over populations."
_NONE = "–"
_ENDS = ("", "_low", "_high")
_DIGITS = 4  # digits of a patient's regret
_RANDOM = ("populations_worse_than_randomisation", "populations_surely_worse_than_randomisation")


def charts(facts: Facts) -> Charts:
    """Return the figures by name, except those without data."""
    found = {"arena-regrets": partial(_regrets, facts), "arena-time": partial(_time, facts)}
    others = facts.mapped().filter(polars.col("policy") != facts.reference)
    if others.height:
        found["arena-heat-map"] = partial(_heat_map, facts, others)
    worst = _worst(facts)
    if worst.height:
        what = f"difference from {facts.labels[facts.reference]} in the worst 5% of populations, {_SHARE}"
        found["arena-worst"] = partial(heat_map, worst, label=what, marks=False)
    for family in facts.misleading():
        found[f"arena-frontier-{family}"] = partial(_frontier, facts, family)
    for number, families in enumerate(facts.curve_families(), 1):
        found[f"arena-curves-{number}"] = partial(_curves, facts, families)
    if facts.optimum().height:
        found["arena-optimum"] = partial(_optimum, facts)
    return found


def _heat_map(facts: Facts, others: polars.DataFrame) -> Figure:
    """Draw every policy on every family, compared with the reference."""
    table = others.select(
        row="label", column="family", mean="difference", low="difference_low", high="difference_high"
    )
    label = f"difference from {facts.labels[facts.reference]}, {_SHARE}"
    return heat_map(table, label=label, note=_populations(facts))


def _worst(facts: Facts) -> polars.DataFrame:
    """Return the worst 5% of populations, for families with enough populations."""
    worst = polars.coalesce("worst_5_percent_held_out", "worst_5_percent")
    return (
        facts.at_horizon.filter(polars.col("family").is_in(facts.large), polars.col("policy") != facts.reference)
        .select(row="label", column="family", mean=worst, low=polars.lit(None), high=polars.lit(None))
        .drop_nulls("mean")
    )


def _populations(facts: Facts) -> str:
    """Describe how many populations the families have."""
    by_size: dict[int, list[str]] = {}
    for family, size in facts.sizes.items():
        by_size.setdefault(size, []).append(family)
    usual = max(by_size, key=lambda size: len(by_size[size]))
    others = [f"{family} {size:,}" for size, its in by_size.items() for family in its if size != usual]
    return f"Populations: {usual:,} in each family" + (f", but {', '.join(others)}." if others else ".")


def _frontier(facts: Facts, family: str) -> Figure:
    """Draw gain, where the reward depends only on the arm taken, against loss in a family where it does not."""
    its = facts.frontier.filter(loss_family=family)
    odds = [odds_of(policy) or (None, None) for policy in its["policy"]]
    series, values = (list(column) for column in zip(*odds, strict=True))
    ends = [(f"{axis}{end}", f"{name}{end}") for axis, name in (("x", "loss"), ("y", "gain")) for end in _ENDS]
    table = (
        its.with_columns(
            polars.Series("odds", values, polars.Float64),
            polars.Series("series", series, polars.String),
            polars.Series("label", [_short(facts, *one) for one in its.select("policy", "label").iter_rows()]),
        )
        .sort("odds", maintain_order=True, nulls_last=True)
        .select("label", "series", **dict(ends))
    )
    reference = facts.labels[facts.reference]
    return frontier(
        table,
        x_label=f"{family}: difference from {reference}",
        y_label=f"unconfounded: difference from {reference}",
        note="95% intervals over populations, both ways.",
    )


def _short(facts: Facts, policy: str, label: str) -> str:
    """Return a short name for a crowded figure, where a line shows the kind of odds."""
    odds = odds_of(policy)
    if odds is None or policy == facts.default:
        return label
    return f"{odds[0].removesuffix(' odds').replace('constant', 'odds')} {odds[1]:g}".replace("inf", "∞")


def _curves(facts: Facts, families: Sequence[str]) -> Figure:
    """Draw the regret of a few policies as trials grow, on some families."""
    few = facts.few()
    longest = polars.col("n_patients") == polars.col("n_patients").max().over("family")
    table = (
        facts.curves.filter(polars.col("policy").is_in(few), longest, polars.col("family").is_in(families))
        .with_columns(
            population="family",
            n_patients="t",
            name=polars.col("policy").replace_strict(facts.labels),
            mean="regret",
            low="regret_low",
            high="regret_high",
        )
        .sort(
            polars.col("family").cast(polars.Enum(families)),
            polars.col("policy").cast(polars.Enum(few)),
            maintain_order=True,
        )
    )
    return growth_chart(table, _guides(table))


def _guides(table: polars.DataFrame) -> list[Guide]:
    """Return a guide that grows like T for each panel, scaled to be visible."""
    found = []
    for (family,), rows in table.group_by("family", maintain_order=True):
        last = rows.filter(n_patients=rows["n_patients"].max())
        highest = max(last["mean"].to_list())
        found.append(Guide("T", 1.0, highest / float(last["n_patients"][0]), str(family)))
    return found


def _regrets(facts: Facts) -> Figure:
    """Draw three kinds of regret of a few policies side by side."""
    rows = []
    for family in facts.large:
        for policy in facts.few():
            its = facts.at_horizon.filter(family=family, policy=policy)
            for column, (_, title, _) in REGRETS.items() if its.height else ():
                mean, low, high = its.select(column, f"{column}_low", f"{column}_high").row(0)
                if mean is not None:
                    who = {"row": family, "panel": title, "style": facts.labels[policy]}
                    rows.append({**who, "mean": mean, "low": low, "high": high})
    return dots(polars.DataFrame(rows), x_label="reward lost by a patient", zero="", note=_INTERVALS)


def _optimum(facts: Facts) -> Figure:
    """Draw every policy as a fraction of the optimum, where the optimum was computed."""
    scale = polars.col("fraction_of_optimum") / polars.col("surplus")  # that is, divided by the optimum
    table = facts.optimum().select(
        row="label",
        panel=polars.format("{}, {} patients", "family", "n_patients"),
        mean="fraction_of_optimum",
        low=scale * polars.col("surplus_low"),
        high=scale * polars.col("surplus_high"),
    )
    return dots(table, x_label="fraction of the optimum", note=_INTERVALS)


def _time(facts: Facts) -> Figure:
    """Draw how long a decision takes."""
    times = (
        facts.timed()
        .group_by("label", maintain_order=True)
        .agg(
            mean=polars.col("ns_per_decision").median(),
            low=polars.col("ns_per_decision").min(),
            high=polars.col("ns_per_decision").max(),
        )
        .sort("mean")
        .with_columns(row="label", panel=polars.lit(""))
    )
    return dots(times, x_label="nanoseconds a decision, patient and learning included", zero="")


def cells(facts: Facts) -> Cells:
    """Return the tables by name, except those without rows."""
    families = [
        (
            row["family"],
            str(row["n_arms"]),
            f"{row['n_populations']:,}",
            row["description"],
            row["drawn"],
            _written(row["seed"], "d"),
            row["digest"] or _NONE,
            f"{row['best_surplus']:.3f}",
        )
        for row in facts.families.iter_rows(named=True)
    ]
    header = ("family", "arms", "populations", "what it is", "how it was drawn", "seed", "digest", "best surplus")
    where: dict[tuple[str, str], list[str]] = {}
    for row in facts.left_out.iter_rows(named=True):
        where.setdefault((row["label"], row["why"]), []).append(f"{row['family']} ({row['n_patients']:,})")
    left_out = [(label, why, ", ".join(places)) for (label, why), places in where.items()]
    found: dict[str, Table] = {
        "families": (header, families),
        "policies": (("policy", "text"), [(label, policy) for policy, label in facts.labels.items()]),
        "left-out": (("policy", "why", "family (patients)"), left_out),
        "worst": _worst_cells(facts),
    }
    for (family,), rows in facts.results.group_by("family", maintain_order=True):
        found[f"family-{family}"] = _family_cells(rows.to_dicts())
    return {name: (heading, rows) for name, (heading, rows) in found.items() if rows}


def _worst_cells(facts: Facts) -> Table:
    """Return the worst cases of every policy over families, at the horizon."""
    rows = []
    for policy, label in facts.labels.items():
        its = facts.at_horizon.filter(policy=policy).drop_nulls("worst").sort("worst")
        if its.is_empty():
            continue
        shares = [_written(its[name].max(), ".1%") for name in _RANDOM]
        longest = facts.results.filter(policy=policy, n_patients=facts.longest)
        growth = _written(longest["growth_of_worst"].max(), ".2f")
        rows.append((label, f"{its['worst'][0]:+.3f}", its["family"][0], *shares, growth))
    return ("policy", "worst", "in", "worse than randomising", "surely", "growth of the worst"), rows


def _family_cells(entries: Sequence[Mapping[str, Any]]) -> Table:
    """Return all numbers of a family."""
    columns: dict[str, list[str]] = {
        "patients": _numbers(entries, "n_patients", ",d"),
        "policy": [row["label"] for row in entries],
        "share": estimate_texts([estimate_in_row(row, "share") for row in entries]),
        "difference": estimate_texts([estimate_in_row(row, "difference") for row in entries], sign="+"),
        "worst 5%": _numbers(entries, "worst_5_percent", "+.3f"),
        "held out": _numbers(entries, "worst_5_percent_held_out", "+.3f"),
        "worst": _numbers(entries, "worst", "+.3f"),
        "worse than randomisation": _numbers(entries, "populations_worse_than_randomisation", ".1%"),
    }
    for name, (_, _, title) in REGRETS.items():
        known = [row for row in entries if row[name] is not None]
        texts = iter(estimate_texts([estimate_in_row(row, name) for row in known], digits=_DIGITS))
        columns[title] = [_NONE if row[name] is None else next(texts) for row in entries]
    columns["of the optimum"] = _numbers(entries, "fraction_of_optimum", ".1%")
    columns["growth"] = _numbers(entries, "growth_of_worst", ".2f")
    columns["ns"] = _numbers(entries, "ns_per_decision", ",.0f")
    columns = {name: cells for name, cells in columns.items() if set(cells) != {_NONE}}
    return list(columns), list(zip(*columns.values(), strict=True))


def _numbers(entries: Sequence[Mapping[str, Any]], name: str, form: str) -> list[str]:
    return [_written(row[name], form) for row in entries]


def _written(value: Any, form: str) -> str:
    return _NONE if value is None else format(value, form)
