"""What a simulation found, as a table: of plain text, or for a notebook."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from adhere.intervals import Estimate
from adhere.report.numbers import digits_of, estimate_texts
from adhere.report.wrapping import packed, paragraph, policy_lines
from adhere.simulation.config import Config
from adhere.simulation.outcome import Outcome

_GAP = "  "
_NARROWEST_ALLOCATION = 16
_MOST_ARMS = 10
_MEASURES = (
    "surplus: expected reward above uniform randomisation, summed over a trial; regret: expected reward lost against"
    " always choosing the best arm"
)
EXPLANATION = (
    f"{_MEASURES}; risk: share of runs whose surplus is below 0 and, in brackets, the surplus that 5% of runs stay"
    " below (to within 0.5%). [low, high]: 95% Monte Carlo interval of a mean over simulated runs (more runs narrow"
    " it), not between patients."
)
_LEFT, _BROKEN = ("population", "policy", "allocation"), ("policy", "allocation")  # columns of text; long ones


def result_table(config: Config, outcomes: Sequence[Outcome], width: int = 80) -> str:
    """Surplus, difference from the reference, regret, risk and allocation of every policy on every population.

    A line for each policy where that fits into the width; else the policy has a line to itself.
    """
    groups = by_population(outcomes)
    blocks = [_block(group, config, width) for group in groups]
    said = _introduction(config, len(groups[0]))
    return "\n\n".join([paragraph(said, width), *blocks, paragraph(explanation(config), width)])


def _introduction(config: Config, n_policies: int) -> str:
    said = f"{config.size}."
    if config.n_runs > 1:
        said += " Means over runs with 95% intervals."
    if n_policies > 1:
        said += f" difference: surplus minus that of {config.reference} on the same patients."
    return said


def explanation(config: Config) -> str:
    """What the numbers in a table are; a single run has neither intervals nor a risk."""
    return EXPLANATION if config.n_runs > 1 else f"{_MEASURES}."


def by_population(outcomes: Sequence[Outcome]) -> list[list[Outcome]]:
    """The outcomes of each population, in the order given; two that share a name stay apart."""
    groups: list[list[Outcome]] = []
    for outcome in outcomes:
        last = groups[-1] if groups else []
        is_new = all(one.policy != outcome.policy for one in last)
        if last and last[0].population == outcome.population and is_new:
            last.append(outcome)
        else:
            groups.append([outcome])
    return groups


def _block(outcomes: Sequence[Outcome], config: Config, width: int) -> str:
    """The table of one population."""
    policies = [one.policy for one in outcomes]
    numbers = _side_by_side(_columns(outcomes, config))
    allocations = [["allocation"], *(_allocation(one) for one in outcomes)]
    policy_width = max(len(policy) for policy in ["policy", *policies])
    longest_allocation = max(len("".join(pieces)) for pieces in allocations)
    on_one_line = policy_width + len(numbers[0]) + longest_allocation <= width
    allocation_below = not on_one_line and len(numbers[0]) + _NARROWEST_ALLOCATION > width

    lines = [outcomes[0].population]
    for policy, cells, pieces in zip(["policy", *policies], numbers, allocations, strict=True):
        start = policy.ljust(policy_width) + cells if on_one_line else cells
        if not on_one_line and policy in policies:
            lines += policy_lines(policy, width)
        if allocation_below:
            lines.append(cells.rstrip())
            if policy in policies:
                lines.append(paragraph(f"allocation: {''.join(pieces)}", width, _GAP))
            continue
        first, *others = packed(pieces, width - len(start))
        lines += [(start + first).rstrip(), *(" " * len(start) + other for other in others)]
    return "\n".join(lines)


def _columns(outcomes: Sequence[Outcome], config: Config) -> dict[str, list[str]]:
    """The columns of numbers by their headings."""
    surpluses = [one.surplus for one in outcomes]
    columns = {"surplus": estimate_texts(surpluses)}
    if len(outcomes) > 1:
        differences = estimate_texts([one.difference() for one in outcomes], sign="+")
        for row, one in enumerate(outcomes):
            if one.policy == config.reference:
                differences[row] = "reference"
        columns["difference"] = differences
    columns["regret"] = estimate_texts([one.regret for one in outcomes], intervals=False)
    if config.n_runs > 1:
        low = [Estimate(one.quantile(0.05), None, None, None) for one in outcomes]
        quantiles = estimate_texts(low, digits=max(0, digits_of(surpluses) - 1))
        shares = [_share(one.worse_than_randomisation.mean) for one in outcomes]
        columns["risk"] = [f"{share} ({quantile})" for share, quantile in zip(shares, quantiles, strict=True)]
    return columns


def _share(share: float) -> str:
    if 0 < share < 0.001:
        return "<0.1%"
    return f"{share:.1%}" if 0 < share < 0.1 else f"{share:.0%}"


def _side_by_side(columns: Mapping[str, Sequence[str]]) -> list[str]:
    """The columns under their headings, all lines as long as each other."""
    headed = [[heading, *cells] for heading, cells in columns.items()]
    widths = [max(len(cell) for cell in column) for column in headed]
    return [
        "".join(_GAP + cell.rjust(wide) for cell, wide in zip(row, widths, strict=True)) + _GAP
        for row in zip(*headed, strict=True)
    ]


def _allocation(outcome: Outcome) -> list[str]:
    """Each arm's share; of very many arms, those recommended most."""
    every = [(arm, share.mean) for arm, share in outcome.allocation.items()]
    shown = every if len(every) <= _MOST_ARMS else sorted(every, key=lambda one: -one[1])[:_MOST_ARMS]
    shares = [f"{arm} {share:.0%}" for arm, share in shown]
    shares += [f"{len(every) - len(shown)} more"] if len(shown) < len(every) else []
    return [*(f"{share}, " for share in shares[:-1]), *shares[-1:]]


def html_table(config: Config, outcomes: Sequence[Outcome]) -> str:
    """The same for a notebook: a row for each population and policy, and what the numbers are."""
    rows: list[dict[str, str]] = []
    groups = by_population(outcomes)
    for group in groups:
        columns = _columns(group, config)
        for number, one in enumerate(group):
            named = {"population": one.population, "policy": one.policy}
            cells = {heading: column[number] for heading, column in columns.items()}
            shares = (share.strip().replace(" ", "\N{NO-BREAK SPACE}") for share in _allocation(one))
            rows.append({**named, **cells, "allocation": " ".join(shares)})
    head = _html_row("th", {heading: heading for heading in rows[0]})
    body = "".join(_html_row("td", row) for row in rows)
    return (
        f"<div><p>{escape(_introduction(config, len(groups[0])))}</p>"
        f"<table><thead>{head}</thead><tbody>{body}</tbody></table>"
        f"<p><small>{escape(explanation(config))}</small></p></div>"
    )


def _html_row(tag: str, cells: Mapping[str, str]) -> str:
    inside = ""
    for heading, cell in cells.items():
        align, space = "left" if heading in _LEFT else "right", "normal" if heading in _BROKEN else "nowrap"
        style = f"text-align: {align}; white-space: {space}; padding: 0.2em 0.6em; vertical-align: top"
        inside += f'<{tag} style="{style}">{escape(cell)}</{tag}>'
    return f"<tr>{inside}</tr>"
