"""What a simulation found, as a table of plain text."""

from __future__ import annotations

import math
from collections.abc import Sequence

from adhere.report.by_population import by_population
from adhere.report.wrapping import packed, paragraph, policy_lines
from adhere.simulation import Estimate, Outcome, SimulationResult

_GAP = "  "
_NARROWEST_ALLOCATION = 16


def result_table(result: SimulationResult, width: int = 80) -> str:
    """Surplus, difference from the reference, regret and allocation of every policy on every population.

    A line for each policy where that fits into the width; else the policy has a line to itself.
    """
    config = result.config
    runs = "1 run" if config.n_runs == 1 else f"{config.n_runs:,} runs"
    said = f"{runs} of {config.n_patients:,} patients, seed {config.seed}."
    if config.n_runs > 1:
        said += " Means over runs with 95% intervals."
    if any(len(group) > 1 for group in by_population(result)):
        said += f" difference: surplus minus that of {config.reference} on the same patients."
    blocks = [_block(group, config.reference, width) for group in by_population(result)]
    return "\n\n".join([paragraph(said, width), *blocks])


def _block(outcomes: Sequence[Outcome], reference: str, width: int) -> str:
    columns = [["surplus", *_estimates([one.surplus for one in outcomes])]]
    if len(outcomes) > 1:
        differences = _estimates([one.difference() for one in outcomes], sign="+")
        is_reference = [one.policy == reference for one in outcomes]
        shown = ["reference" if own else text for own, text in zip(is_reference, differences, strict=True)]
        columns.append(["difference", *shown])
    columns.append(["regret", *_estimates([Estimate(one.regret.mean, None, None, None) for one in outcomes])])
    widths = [max(len(cell) for cell in column) for column in columns]
    policies = ["policy", *(one.policy for one in outcomes)]
    allocations = [["allocation"], *(_allocation(one) for one in outcomes)]

    policy_width = max(len(policy) for policy in policies)
    numbers_width = sum(widths) + len(_GAP) * len(widths)
    allocation_width = max(len("".join(pieces)) for pieces in allocations)
    on_one_line = policy_width + numbers_width + len(_GAP) + allocation_width <= width

    lines = [outcomes[0].population]
    for row, policy in enumerate(policies):
        cells = "".join(_GAP + column[row].rjust(wide) for column, wide in zip(columns, widths, strict=True))
        if on_one_line:
            start = policy.ljust(policy_width) + cells + _GAP
        else:
            lines += policy_lines(policy, width)
            start = cells + _GAP
        left = max(_NARROWEST_ALLOCATION, width - len(start))
        for number, line in enumerate(packed(allocations[row], left)):
            lines.append(((" " * len(start) if number else start) + line).rstrip())
    return "\n".join(lines)


def _allocation(outcome: Outcome) -> list[str]:
    shares = [f"{arm} {share.mean:.0%}" for arm, share in outcome.allocation.items()]
    return [*(f"{share}, " for share in shares[:-1]), shares[-1]]


def _estimates(estimates: Sequence[Estimate], sign: str = "") -> list[str]:
    margins = [one.hi - one.mean for one in estimates if one.hi is not None]
    digits = _digits([one.mean for one in estimates], margins)
    return [
        _number(one.mean, digits, sign)
        + ("" if one.lo is None or one.hi is None else f" [{', '.join(_number(end, digits, sign) for end in (one.lo, one.hi))}]")
        for one in estimates
    ]


def _digits(values: Sequence[float], margins: Sequence[float]) -> int:
    """Decimals for a column: two figures of its narrowest interval, but four figures or so in all."""
    before_point = max(1, 1 + _exponent(max(abs(value) for value in values)))
    narrowest = min((margin for margin in margins if margin > 0), default=0.0)
    return max(0, min(1 - _exponent(narrowest), 4 - before_point))


def _exponent(value: float) -> int:
    return math.floor(math.log10(value)) if value > 0 else -1


def _number(value: float, digits: int, sign: str) -> str:
    return f"{round(value, digits) + 0.0:{sign},.{digits}f}"  # + 0.0 turns -0.0 into 0.0
