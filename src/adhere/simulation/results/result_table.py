"""Tables of a simulation's result: in plain text, or for a notebook."""

from collections.abc import Mapping, Sequence
from html import escape

from adhere.errors import quoted
from adhere.intervals import Estimate
from adhere.report.numbers import digits_of, estimate_texts
from adhere.report.text_table import fits, paragraph, policy_lines, text_tables
from adhere.simulation.results.outcome import Config, Outcome

_MOST_ARMS = 10
BEST = "always the best arm"  # the upper limit for policies
_MEASURES = (
    "surplus: expected reward above uniform randomisation, summed over a trial; regret: expected reward lost against"
    " always choosing the best arm"
)
EXPLANATION = (
    f"{_MEASURES}; worse than randomisation: share of runs whose surplus is below 0; surplus q05: the surplus that 5%"
    " of runs stay below (to within 0.5%). [low, high]: 95% Monte Carlo interval of a mean over simulated runs (more"
    " runs narrow it), not between patients."
)
_LEFT, _BROKEN = (
    ("population", "policy", "allocation"),
    ("policy", "allocation"),
)  # text columns; those that wrap
_GLUE = "\N{NO-BREAK SPACE}"  # within an arm's share, which must not wrap
Columns = dict[str, list[str]]


def result_table(config: Config, outcomes: Sequence[Outcome], width: int = 80) -> str:
    """Return surplus, difference from the reference, regret, shares of runs and allocation, by population and policy.

    All populations have the same columns, with one row per policy. If the policies are too long, rows are numbered,
    and a list explains the numbers. If the allocations are too long, they get a table of their own.
    """
    groups = by_population(outcomes)
    policies = [one.policy for one in groups[0]]
    numbers = [_columns(one, config) for one in groups]
    allocations = [{"allocation": [_allocation(one) for one in group]} for group in groups]
    for is_numbered, is_apart in ((False, False), (False, True), (True, False), (True, True)):
        labels = {"": list(map(str, range(1, len(policies) + 1)))} if is_numbered else {"policy": policies}
        beside = numbers if is_apart else [a | b for a, b in zip(numbers, allocations, strict=True)]
        tables = [_rows(labels | columns) for columns in beside]
        if fits(tables, width, ""):
            break
    align = "l" + "r" * len(numbers[0]) + ("" if is_apart else "l")
    blocks = text_tables(tables, width, align, "")
    if is_apart:
        apart = text_tables([_rows(labels | columns) for columns in allocations], width, "l", "")
        # Pooled results have no arms, and therefore no table of arms.
        tables_of = zip(groups, blocks, apart, strict=True)
        blocks = [f"{block}\n\n{one}\n" if group[0].arms else f"{block}\n" for group, block, one in tables_of]
    named = [
        f"{group[0].population}\n{block}\n{_best_line(group)}: surplus {_best(group)}, regret 0"
        for group, block in zip(groups, blocks, strict=True)
    ]
    listed = [_numbered(policies, width)] if is_numbered else []
    said = paragraph(_introduction(config, len(policies)), width)
    notes = [paragraph(note, width) for note in (explanation(config), *_arm_orders(groups))]
    text = "\n\n".join([said, *listed, *named, *notes])
    return text.replace(_GLUE, " ")


def _arm_orders(groups: Sequence[Sequence[Outcome]]) -> list[str]:
    """Return a line for each population whose arm order matters: its control, and what decided the order."""
    return [f"{one.population}: {one.arm_order}" for one, *_ in groups if one.arm_order]


def _best_line(outcomes: Sequence[Outcome]) -> str:
    best = outcomes[0].best_arm
    return f"{BEST} ({best})" if best else BEST


def _best(outcomes: Sequence[Outcome]) -> str:
    """Return the surplus of always choosing the best arm, with as many digits as the policies' surpluses."""
    best = Estimate(outcomes[0].best_arm_surplus, None, None, None)
    return estimate_texts([best], digits=digits_of([one.surplus for one in outcomes]))[0]


def _rows(columns: Columns) -> list[list[str]]:
    """Return the rows of a table, headings first."""
    return [list(columns), *map(list, zip(*columns.values(), strict=True))]


def _numbered(policies: Sequence[str], width: int) -> str:
    """Return the numbered list of policies; long policies take several lines."""
    wide = len(str(len(policies)))
    lines = ["policies"]
    for number, policy in enumerate(policies, 1):
        first, *others = policy_lines(policy, width - wide - 2)
        lines += [f"{number:{wide}}  {first}", *(" " * (wide + 2) + other for other in others)]
    return "\n".join(lines)


def _introduction(config: Config, n_policies: int) -> str:
    said = f"{config.size}."
    if config.n_runs > 1:
        said += " Means over runs with 95% intervals."
    if n_policies > 1:
        said += f" surplus difference: surplus minus that of {config.reference} on the same patients."
    return said


def explanation(config: Config) -> str:
    """Return the explanation of a table's numbers; a single run has neither intervals nor shares of runs."""
    return EXPLANATION if config.n_runs > 1 else f"{_MEASURES}."


def by_population(outcomes: Sequence[Outcome]) -> list[list[Outcome]]:
    """Return the outcomes of each population, in order; two populations with the same name stay separate."""
    groups: list[list[Outcome]] = []
    for outcome in outcomes:
        last = groups[-1] if groups else []
        is_new = all(one.policy != outcome.policy for one in last)
        if last and last[0].population == outcome.population and is_new:
            last.append(outcome)
        else:
            groups.append([outcome])
    return groups


def _columns(outcomes: Sequence[Outcome], config: Config) -> Columns:
    """Return the columns of numbers, by name."""
    surpluses = [one.surplus for one in outcomes]
    columns = {"surplus": estimate_texts(surpluses)}
    if len(outcomes) > 1:
        differences = estimate_texts([one.difference() for one in outcomes], sign="+")
        for row, one in enumerate(outcomes):
            if one.policy == config.reference:
                differences[row] = "reference"
        columns["surplus difference"] = differences
    columns["regret"] = estimate_texts([one.regret for one in outcomes], intervals=False)
    if config.n_runs > 1:
        low = [Estimate(one.quantile(0.05), None, None, None) for one in outcomes]
        quantiles = estimate_texts(low, digits=max(0, digits_of(surpluses) - 1))
        columns["worse than randomisation"] = [_share(one.worse_than_randomisation.mean) for one in outcomes]
        columns["surplus q05"] = quantiles
    return columns


def _share(share: float) -> str:
    if 0 < share < 0.001:
        return "<0.1%"
    return f"{share:.1%}" if 0 < share < 0.1 else f"{share:.0%}"


def _allocation(outcome: Outcome) -> str:
    """Return each arm's share, or those of the most recommended arms if there are many."""
    every = [(arm, share.mean) for arm, share in outcome.allocation.items()]
    shown = every if len(every) <= _MOST_ARMS else sorted(every, key=lambda one: -one[1])[:_MOST_ARMS]
    names = quoted(arm for arm, _ in shown)
    shares = [f"{name} {share:.0%}" for name, (_, share) in zip(names, shown, strict=True)]
    shares += [f"{len(every) - len(shown)} more"] if len(shown) < len(every) else []
    return ", ".join(share.replace(" ", _GLUE) for share in shares)


def html_table(config: Config, outcomes: Sequence[Outcome]) -> str:
    """Return the table for a notebook: a row for each population and policy, and an explanation of the numbers."""
    rows: list[dict[str, str]] = []
    groups = by_population(outcomes)
    for group in groups:
        columns = _columns(group, config)
        for number, one in enumerate(group):
            named = {"population": one.population, "policy": one.policy}
            cells = {heading: column[number] for heading, column in columns.items()}
            rows.append({**named, **cells, "allocation": _allocation(one)})
        known = {
            "population": group[0].population,
            "policy": _best_line(group),
            "surplus": _best(group),
            "regret": "0",
        }
        rows.append({heading: known.get(heading, "") for heading in rows[0]})
    head = _html_row("th", {heading: heading for heading in rows[0]})
    body = "".join(_html_row("td", row) for row in rows)
    notes = "".join(f"<p><small>{escape(note)}</small></p>" for note in (explanation(config), *_arm_orders(groups)))
    return (
        f"<div><p>{escape(_introduction(config, len(groups[0])))}</p>"
        f"<table><thead>{head}</thead><tbody>{body}</tbody></table>"
        f"{notes}</div>"
    )


def _html_row(tag: str, cells: Mapping[str, str]) -> str:
    inside = ""
    for heading, cell in cells.items():
        align, space = "left" if heading in _LEFT else "right", "normal" if heading in _BROKEN else "nowrap"
        style = f"text-align: {align}; white-space: {space}; padding: 0.2em 0.6em; vertical-align: top"
        inside += f'<{tag} style="{style}">{escape(cell)}</{tag}>'
    return f"<tr>{inside}</tr>"
