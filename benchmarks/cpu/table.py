"""The findings in Markdown: bars, speeds, growth, start-up."""

from __future__ import annotations

from benchmarks.cpu.bars import bars
from benchmarks.cpu.c_programs import LANES, LIKE_FOR_LIKE, LIMIT
from benchmarks.cpu.findings import Findings
from benchmarks.cpu.generator import GENERATOR
from benchmarks.cpu.growth import FEW_PATIENTS, RUNS, Growth
from benchmarks.cpu.lockstep import LOCKSTEP
from benchmarks.cpu.measuring import Key, Spread
from benchmarks.cpu.ours import ADHERE, GREEDY, THOMPSON
from benchmarks.cpu.startup import FIRST, LATER
from benchmarks.pages import table, table_of_bars, times

_NOTES = f"""\
Every ratio is the median over rounds of the ratio within a round, the smallest and the largest in brackets; a round
runs everyone once, one after the other. adhere: a whole `adhere.simulate` of 10,000 patients on `stroke-aspirin`
(three arms: `stroke-heparin`), one thread, compiled before. *{LIKE_FOR_LIKE}*: the same numbers, patients and tallies
by hand; its totals are held against adhere's in every round and are equal. *{LIMIT}*, *{LANES}*:
the same laws from any generator, only the chosen arm's reward drawn, only totals kept; lanes play 24 or 48 trials in
step. Libraries: one two-armed bandit, rewards drawn beforehand, only its own calls timed (*pymab experiment*: whole
replicates, which it runs in Rust); their ε is fixed, ours follows the paper's schedule. *{LOCKSTEP}*: 2000 runs side
by side."""


def markdown(findings: Findings) -> str:
    """The whole page."""
    versions = ", ".join(f"{name} {version}" for name, version in findings.versions.items())
    parts = [
        "# adhere on a processor",
        f"{findings.date}. {findings.machine}. {findings.compiler}, `{findings.flags}`. {versions}.",
        "Written by `make bench`; every round is in `cpu.json`.",
        "![Decisions a second, and cost as work grows](cpu.svg)",
        "## Bars",
        table_of_bars(bars(findings)),
        "## Two arms, one core",
        _side_by_side(findings),
        *(f"{library} {why}." for library, why in findings.missing.items()),
        _NOTES,
        "## Every policy, one core",
        _our_policies(findings),
        "## As work grows",
        *(_growth_table(growth) for growth in findings.growth),
        _memory(findings),
        "## Start-up",
        "`adhere simulate` of 10 runs × 100 patients, the whole command, seconds (the best of its repetitions).",
        _startup(findings),
    ]
    return "\n\n".join(parts) + "\n"


def _cost(spread: Spread) -> str:
    digits = 1 if spread.median < 100 else 0
    return f"{spread.median:,.{digits}f} [{spread.lo:,.{digits}f}–{spread.hi:,.{digits}f}]"


def _rate(spread: Spread) -> str:
    rate = 1e3 / spread.median
    return f"{rate:,.0f}" if rate >= 10 else f"{rate:.2g}"


def _side_by_side(findings: Findings) -> str:
    rows = []
    for policy in (THOMPSON, GREEDY):
        ours = (ADHERE, policy)
        keys = [key for key in findings.speed.ns if key[1] == policy and key[0] != GENERATOR]
        for key in sorted(keys, key=lambda key: findings.speed.cost(key).median):
            cost = findings.speed.cost(key)
            rows.append(
                [policy, *_bold(key == ours, [key[0], _cost(cost), _rate(cost), _against(findings, key, ours)])]
            )
    return table(["policy", "by", "ns a decision", "million decisions a second", "adhere against it"], rows)


def _bold(wanted: bool, cells: list[str]) -> list[str]:
    return [f"**{cell}**" if cell and wanted else cell for cell in cells]


def _against(findings: Findings, key: Key, ours: Key) -> str:
    if key == ours:
        return ""
    faster = findings.speed.ratio(key, ours)
    if faster.median >= 1:
        return f"{times(faster)} faster"
    return f"{times(findings.speed.ratio(ours, key))} slower"


def _our_policies(findings: Findings) -> str:
    rows = []
    for key in (key for key in findings.speed.ns if key[0] == ADHERE):
        cost, ratio = findings.speed.cost(key), findings.speed.ratio(key, (ADHERE, THOMPSON))
        rows.append([f"`{key[1]}`", _cost(cost), _rate(cost), "" if key[1] == THOMPSON else times(ratio)])
    return table(["policy", "ns a decision", "million decisions a second", "against `thompson`"], rows)


def _growth_table(growth: Growth) -> str:
    rows = [
        [f"`{policy}`", *(f"{ns:,.0f}" for ns in growth.medians(policy)), f"{growth.exponent(policy):.2f}"]
        for policy in growth.policies
    ]
    what = f"{growth.size} of {FEW_PATIENTS} patients" if growth.size == RUNS else growth.size
    heads = [f"ns a decision, {what}:", *(f"{size:,}" for size in growth.sizes), "exponent of total cost"]
    return table(heads, rows)


def _memory(findings: Findings) -> str:
    heads = ["runs of 100 patients:", *(f"{n_runs:,}" for n_runs in findings.memory)]
    return table(heads, [["largest memory, MB", *(f"{megabytes:.0f}" for megabytes in findings.memory.values())]])


def _startup(findings: Findings) -> str:
    rows = []
    for policy, seconds in findings.commands.items():
        first, later = min(seconds[FIRST]), min(seconds[LATER])
        rows.append([f"`{policy}`", f"{first:.1f}", f"{first - later:.1f}", f"{later:.1f}"])
    return table(["policy", "first ever", "of it compiling", "later"], rows)
