"""What a simulation found, as a table of plain text."""

from __future__ import annotations

from collections.abc import Sequence

from adhere.report.numbers import estimate_texts
from adhere.report.wrapping import packed, paragraph, policy_lines
from adhere.simulation.outcome import Outcome
from adhere.simulation.result import SimulationResult

_GAP = "  "
_NARROWEST_ALLOCATION = 16


def result_table(result: SimulationResult, width: int = 80) -> str:
    """Surplus, difference from the reference, regret and allocation of every policy on every population.

    A line for each policy where that fits into the width; else the policy has a line to itself.
    """
    config, groups = result.config, by_population(result)
    runs = "1 run" if config.n_runs == 1 else f"{config.n_runs:,} runs"
    patients = "1 patient" if config.n_patients == 1 else f"{config.n_patients:,} patients"
    said = f"{runs} of {patients}, seed {config.seed}."
    if config.n_runs > 1:
        said += " Means over runs with 95% intervals."
    if len(groups[0]) > 1:
        said += f" difference: surplus minus that of {config.reference} on the same patients."
    return "\n\n".join([paragraph(said, width), *(_block(group, config.reference, width) for group in groups)])


def by_population(result: SimulationResult) -> list[list[Outcome]]:
    """The outcomes of each population, in the order given; two that share a name stay apart."""
    groups: list[list[Outcome]] = []
    for outcome in result.outcomes:
        last = groups[-1] if groups else []
        is_new = all(one.policy != outcome.policy for one in last)
        if last and last[0].population == outcome.population and is_new:
            last.append(outcome)
        else:
            groups.append([outcome])
    return groups


def _block(outcomes: Sequence[Outcome], reference: str, width: int) -> str:
    """The table of one population."""
    policies = [one.policy for one in outcomes]
    numbers = _numbers(outcomes, reference)
    allocations = [["allocation"], *(_allocation(one) for one in outcomes)]
    policy_width = max(len(policy) for policy in ["policy", *policies])
    longest_allocation = max(len("".join(pieces)) for pieces in allocations)
    on_one_line = policy_width + len(numbers[0]) + longest_allocation <= width

    lines = [outcomes[0].population]
    for policy, cells, pieces in zip(["policy", *policies], numbers, allocations, strict=True):
        start = policy.ljust(policy_width) + cells if on_one_line else cells
        if not on_one_line and policy in policies:
            lines += policy_lines(policy, width)
        left = max(_NARROWEST_ALLOCATION, width - len(start))
        first, *others = packed(pieces, left)
        lines += [(start + first).rstrip(), *(" " * len(start) + other for other in others)]
    return "\n".join(lines)


def _numbers(outcomes: Sequence[Outcome], reference: str) -> list[str]:
    """The columns of numbers side by side, headings first, all lines as long as each other."""
    columns = [["surplus", *estimate_texts([one.surplus for one in outcomes])]]
    if len(outcomes) > 1:
        differences = estimate_texts([one.difference() for one in outcomes], sign="+")
        for row, one in enumerate(outcomes):
            if one.policy == reference:
                differences[row] = "reference"
        columns.append(["difference", *differences])
    columns.append(["regret", *estimate_texts([one.regret for one in outcomes], intervals=False)])
    widths = [max(len(cell) for cell in column) for column in columns]
    return [
        "".join(_GAP + cell.rjust(wide) for cell, wide in zip(row, widths, strict=True)) + _GAP
        for row in zip(*columns, strict=True)
    ]


def _allocation(outcome: Outcome) -> list[str]:
    shares = [f"{arm} {share.mean:.0%}" for arm, share in outcome.allocation.items()]
    return [*(f"{share}, " for share in shares[:-1]), *shares[-1:]]
