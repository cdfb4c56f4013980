"""Plot of a simulation's surplus along the trial: a panel for each population, a line for each policy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from adhere.report.lines import Level, lines
from adhere.report.style import SETTINGS, figure_file
from adhere.simulation.results.outcome import Config, Outcome
from adhere.simulation.results.result_table import by_population

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_QUANTILES = {"q05": 0.05, "q25": 0.25, "q50": 0.5, "q75": 0.75, "q95": 0.95}


def trajectory_rows(outcome: Outcome) -> list[dict[str, float]]:
    """Return the surplus after t patients as rows of a table; before the first patient it is 0."""
    along = outcome.trajectory()
    points = zip(along.t, along.mean, along.se, along.low, along.high, strict=True)
    start = {"t": 0, "mean": 0.0, "se": 0.0, "low": 0.0, "high": 0.0}
    return [start, *(dict(zip(start, (int(t), *map(float, numbers)), strict=True)) for t, *numbers in points)]


def surplus_plot(config: Config, outcomes: Sequence[Outcome], notes: Sequence[str] = ()) -> Figure:
    """Plot the mean surplus after t patients with its 95% interval, and the quantiles over runs of its final value.

    Zero is uniform randomisation. A dashed grey line shows always choosing the best arm.
    """
    import matplotlib
    import polars

    rows: list[dict[str, Any]] = []
    ends: list[dict[str, Any]] = []
    best: list[dict[str, Any]] = []
    titles: list[str] = []
    for group in by_population(outcomes):
        name = group[0].population
        titles.append(f"{name} ({titles.count(name) + 1})" if name in titles else name)
        along = zip([0, *group[0].grid], [0.0, *group[0].best_arm_surplus_trajectory().tolist()], strict=True)
        best += [{"panel": titles[-1], "x": t, "mean": mean} for t, mean in along]
        for one in group:
            who = {"panel": titles[-1], "series": one.policy}
            rows += [{**who, **row} for row in trajectory_rows(one)]
            ends.append({**who, **{column: one.quantile(q) for column, q in _QUANTILES.items()}})
    shown = (
        f"Mean of {config.n_runs:,} runs, seed {config.seed}; bands are 95% Monte Carlo intervals of the mean, not"
        " between patients. Bars at the right: the surplus at the end of each run, from the 5% to the 95% quantile"
        " (thick: 25% to 75%, dot: median)."
    )
    with matplotlib.rc_context(SETTINGS):
        figure = lines(
            polars.DataFrame(rows, infer_schema_length=None).fill_nan(None).rename({"t": "x"}),
            x_label="patients",
            level=Level(0.0, "uniform randomisation (zero)"),
            n_columns=1,
            share_y=False,
            y_label="surplus reward (e.g. lives) over uniform randomisation",
            note="\n".join([shown if config.n_runs > 1 else f"One run, seed {config.seed}.", *notes]),
            ends=polars.DataFrame(ends) if config.n_runs > 1 else None,
            best=polars.DataFrame(best),
        )
    # Used by notebooks. Their own way to show figures needs pyplot, which keeps every figure in memory.
    figure._repr_png_ = lambda: plot_file(figure, ".png")  # type: ignore[attr-defined]
    return figure


def plot_file(figure: Figure, suffix: str) -> bytes:
    """Return the content of a file with the plot; the suffix selects the format: .png, .svg or .pdf."""
    import matplotlib

    with matplotlib.rc_context(SETTINGS):
        return figure_file(figure, suffix)
