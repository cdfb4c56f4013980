"""The tables that the synthetic trials print: one line for each trial, then every set and sentence of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars

from adhere.intervals import wilson
from adhere.report.numbers import counted
from adhere.report.text_table import paragraph, text_table
from adhere.studies.coverage.synthetic.counting import LEAST, SetKind, TrialCount
from adhere.studies.coverage.synthetic.shown import PROMISED

LEGEND = (
    "covers: share of the tables with the set in which it contains the truth, with its 95% Monte Carlo interval. A "
    "set is marked 95% where its row says fixed-sample, any-time valid, or asymptotic: ✓ covers in at least 90% of "
    "tables, ✗ in fewer, ≠ names an assumption that the trial breaks. Sets marked · promise less, or are withheld. A "
    "sentence is ✗ where the truth contradicts it in more tables than its level and chance explain."
)
_SETS = ("", "estimand", "truth", "set", "marked", "shown", "covers")
_CLAIMS = ("", "sentence", "printed", "wrong")


def summary(counts: Sequence[TrialCount], width: int = 100, *, details: bool = True) -> str:
    """Text of the complete report."""
    parts = [overview(counts, width)]
    if details:
        parts += [_details(one, width) for one in counts]
    n_sets = sum(len(one.below(LEAST)) for one in counts)
    n_claims = sum(len(one.wrong_claims) for one in counts)
    n_judged = sum(kind.is_judged for one in counts for kind in one.sets)
    parts.append(
        f"{n_judged - n_sets} of {n_judged} kinds of sets marked 95% cover at least {LEAST:.0%}; "
        f"{counted(n_claims, 'kind')} of sentences wrong too often."
    )
    return "\n\n".join([*parts, paragraph(LEGEND, width)])


def overview(counts: Sequence[TrialCount], width: int) -> str:
    """A line for each trial: the least coverage of its sets by mark, and its sentences."""
    rows = [["", "trial", "tables", "marked 95%", "least", "marked less", "least", "withheld", "wrong sentences"]]
    for one in counts:
        judged = [kind for kind in one.sets if kind.is_judged]
        others = [kind for kind in one.sets if kind.mark not in PROMISED]
        ok = not one.below(LEAST) and not one.wrong_claims
        rows.append(
            [
                "✓" if ok else "✗",
                one.trial.title,
                f"{one.n_replications:,}",
                str(len(judged)),
                _least(one, judged),
                str(len(others)),
                _least(one, others),
                str(sum(n == one.n_replications for n in one.withheld.values())),
                str(len(one.wrong_claims)),
            ]
        )
    return text_table(rows, width, "llr", indent="")


def _least(one: TrialCount, kinds: Sequence[SetKind]) -> str:
    shares = [one.sets[kind].n_covering / one.sets[kind].n for kind in kinds if one.sets[kind].n]
    return f"{min(shares):.1%}" if shares else "–"


def _details(one: TrialCount, width: int) -> str:
    lines = [f"{one.trial.title} ({one.n_replications:,} tables)"]
    rows = [list(_SETS)]
    for row in _set_rows(one):
        symbol = "✗" if row["fails"] else "≠" if row["assumption_broken"] else "✓" if row["judged"] else "·"
        mark = f"{row['marked']} ≠ {row['assumption_broken']}" if row["assumption_broken"] else str(row["marked"])
        covers = "–" if row["covers"] is None else f"{row['covers']:.3f} [{row['low']:.3f}, {row['high']:.3f}]"
        truth = "–" if row["truth"] is None else f"{row['truth']:.3f}"
        rows.append([symbol, str(row["estimand"]), truth, str(row["set"]), mark, f"{row['shown']:.0%}", covers])
    lines.append(text_table(rows, width, "llrllr"))
    said = [list(_CLAIMS)]
    for row in _claim_rows(one):
        said.append(["✗" if row["fails"] else "✓", str(row["sentence"]), str(row["printed"]), str(row["wrong"])])
    return "\n".join([*lines, text_table(said, width, "llr")])


def set_table(counts: Sequence[TrialCount]) -> polars.DataFrame:
    """Every set of every trial."""
    return polars.DataFrame([row for one in counts for row in _set_rows(one)], infer_schema_length=None)


def claim_table(counts: Sequence[TrialCount]) -> polars.DataFrame:
    """Every kind of sentence of every trial."""
    return polars.DataFrame([row for one in counts for row in _claim_rows(one)], infer_schema_length=None)


def _set_rows(one: TrialCount) -> Iterator[dict[str, str | float | int | bool | None]]:
    head: dict[str, str | float | int | bool | None] = {
        "trial": one.trial.name, "patients": one.trial.n_patients, "replications": one.n_replications,
    }  # fmt: skip
    below = one.below(LEAST)
    for kind, tally in one.sets.items():
        low, high = wilson(tally.n_covering, tally.n)
        yield head | {
            "estimand": kind.quantity,
            "truth": tally.truth,
            "set": kind.row,
            "marked": kind.mark,
            "assumption_broken": kind.broken,
            "shown": tally.n / one.n_replications,
            "covers": tally.n_covering / tally.n,
            "low": low,
            "high": high,
            "median_width": tally.median_width,
            "judged": kind.is_judged,
            "fails": kind in below,
        }
    for (quantity, row), n in one.withheld.items():
        yield head | {
            "estimand": quantity,
            "truth": None,
            "set": row,
            "marked": "withheld",
            "assumption_broken": "",
            "shown": n / one.n_replications,
            "covers": None,
            "low": None,
            "high": None,
            "median_width": None,
            "judged": False,
            "fails": False,
        }


def _claim_rows(one: TrialCount) -> Iterator[dict[str, str | float | int | bool | None]]:
    for name, tally in sorted(one.claims.items()):
        yield {
            "trial": one.trial.name,
            "patients": one.trial.n_patients,
            "replications": one.n_replications,
            "sentence": name,
            "printed": tally.n,
            "wrong": tally.n_wrong,
            "level": tally.level,
            "fails": tally.fails(one.n_replications),
        }
