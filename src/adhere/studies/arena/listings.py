"""The tables of the arena's page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from adhere.intervals import Estimate
from adhere.report.numbers import estimate_texts
from adhere.report.section import Listing
from adhere.studies.arena.facts import Facts

_NONE = "–"
_DIGITS = 4  # of a patient's regret
_RANDOM = ("populations_worse_than_randomisation", "populations_surely_worse_than_randomisation")
_REGRETS = {
    "regret_recommendation": "lost: best recommended",
    "regret_treatment": "lost: best taken",
    "regret_compliers": "lost: compliers",
}


def families_listing(facts: Facts) -> Listing:
    """What each family is, and how its populations are drawn."""
    header = ("family", "arms", "populations", "what it is", "how it was drawn", "seed", "digest", "best surplus")
    rows = [
        (
            row["family"],
            str(row["n_arms"]),
            f"{row['n_populations']:,}",
            row["description"],
            row["drawn"],
            _NONE if row["seed"] is None else str(row["seed"]),
            row["digest"] or _NONE,
            f"{row['best_surplus']:.3f}",
        )
        for row in facts.families.iter_rows(named=True)
    ]
    caption = (
        "The families. Best surplus: what a patient gains over uniform randomisation if the best arm is always "
        "recommended, the mean over populations; the digest names the populations."
    )
    return Listing(caption, header, rows)


def left_out_listing(facts: Facts) -> list[Listing]:
    """Policies that did not play everywhere, and why."""
    if facts.left_out.is_empty():
        return []
    where: dict[tuple[str, str], list[str]] = {}
    for row in facts.left_out.iter_rows(named=True):
        where.setdefault((row["label"], row["why"]), []).append(f"{row['family']} ({row['n_patients']:,})")
    rows = [(label, why, ", ".join(places)) for (label, why), places in where.items()]
    return [Listing("Who did not play where, and why.", ("policy", "why", "family (patients)"), rows, folded=True)]


def policies_listing(facts: Facts) -> Listing:
    """The policies as a user would write them."""
    return Listing(
        "Every policy as “adhere simulate --policy” takes it.",
        ("policy", "text"),
        [(label, policy) for policy, label in facts.labels.items()],
        folded=True,
    )


def worst_listing(facts: Facts) -> Listing:
    """The worst cases of every policy, over families, at the horizon."""
    rows = []
    for policy, label in facts.labels.items():
        its = facts.at_horizon.filter(policy=policy).drop_nulls("worst").sort("worst")
        if its.is_empty():
            continue
        random, surely = (max(its[name].drop_nulls().to_list(), default=None) for name in _RANDOM)
        growth = max(
            facts.results.filter(policy=policy, n_patients=facts.longest)["growth_of_worst"].drop_nulls(),
            default=None,
        )
        shares = [_NONE if one is None else f"{one:.1%}" for one in (random, surely)]
        rows.append(
            (
                label,
                f"{its['worst'][0]:+.3f}",
                its["family"][0],
                *shares,
                _NONE if growth is None else f"{growth:.2f}",
            )
        )
    header = ("policy", "worst", "in", "worse than randomising", "surely", "growth of the worst")
    caption = (
        f"The worst of all at {facts.horizon:,} patients: the lowest difference from {facts.labels[facts.reference]} "
        "on any population, bad luck included, and the family; the greatest part of a family's populations on which "
        "the policy is worse than uniform randomisation, and on which it is so at the level of 2.5%, population by "
        "population. Growth: how regret in "
        f"the worst 5% of populations grows up to {facts.longest:,} patients, as a power of their number, in the "
        "family where it grows fastest; 1 is linear."
    )
    return Listing(caption, header, rows)


def family_listings(facts: Facts) -> list[Listing]:
    """Every number, a table for each family."""
    found = []
    for family in facts.results["family"].unique(maintain_order=True):
        its = facts.results.filter(family=family)
        columns: dict[str, list[str]] = {}
        entries = list(its.iter_rows(named=True))
        columns["patients"] = [f"{row['n_patients']:,}" for row in entries]
        columns["policy"] = [row["label"] for row in entries]
        columns["share"] = estimate_texts([_estimate(row, "share") for row in entries])
        columns["difference"] = estimate_texts([_estimate(row, "difference") for row in entries], sign="+")
        columns["worst 5%"] = _numbers(entries, "worst_5_percent", "+.3f")
        columns["held out"] = _numbers(entries, "worst_5_percent_held_out", "+.3f")
        columns["worst"] = _numbers(entries, "worst", "+.3f")
        columns["worse than randomisation"] = _numbers(entries, "populations_worse_than_randomisation", ".1%")
        for name, title in _REGRETS.items():
            known = [row for row in entries if row[name] is not None]
            texts = iter(estimate_texts([_estimate(row, name) for row in known], digits=_DIGITS))
            columns[title] = [_NONE if row[name] is None else next(texts) for row in entries]
        columns["of the optimum"] = _numbers(entries, "fraction_of_optimum", ".1%")
        columns["growth"] = _numbers(entries, "growth_of_worst", ".2f")
        columns["ns"] = _numbers(entries, "ns_per_decision", ",.0f")
        columns = {name: cells for name, cells in columns.items() if set(cells) != {_NONE}}
        caption = (
            f"{family}: every policy at every horizon, {its['n_populations'][0]:,} populations, "
            f"{_runs(its['n_runs'].to_list())} runs on each; 95% intervals over populations (over runs of a "
            "single one)."
        )
        found.append(Listing(caption, list(columns), list(zip(*columns.values(), strict=True)), folded=True))
    return found


def _numbers(entries: Sequence[Mapping[str, Any]], name: str, form: str) -> list[str]:
    return [_NONE if row[name] is None else format(row[name], form) for row in entries]


def _runs(sizes: list[int]) -> str:
    least, most = min(sizes), max(sizes)
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"


def _estimate(row: Mapping[str, Any], name: str) -> Estimate:
    return Estimate(row[name], None, row[f"{name}_low"], row[f"{name}_high"])
