"""The surplus of a simulation along the trial, drawn: a panel for each population, a line for each policy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from adhere.report.lines import lines
from adhere.report.style import SETTINGS, figure_file
from adhere.simulation.outcome import Outcome
from adhere.simulation.result import SimulationResult
from adhere.simulation.result_table import by_population

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def trajectory_rows(outcome: Outcome) -> list[dict[str, float]]:
    """The surplus after t patients, as rows of a table; before the first patient it is 0."""
    along = outcome.trajectory()
    points = zip(along.t, along.mean, along.se, along.lo, along.hi, strict=True)
    start = {"t": 0, "mean": 0.0, "se": 0.0, "lo": 0.0, "hi": 0.0}
    return [start, *(dict(zip(start, (int(t), *map(float, numbers)), strict=True)) for t, *numbers in points)]


def surplus_plot_file(result: SimulationResult, suffix: str, notes: Sequence[str] = ()) -> bytes:
    """The contents of a file with the plot, of the kind its suffix says: .png, .svg or .pdf."""
    import matplotlib

    with matplotlib.rc_context(SETTINGS):
        return figure_file(surplus_plot(result, notes), suffix)


def surplus_plot(result: SimulationResult, notes: Sequence[str] = ()) -> Figure:
    """Mean surplus after t patients with its 95% interval; zero is uniform randomisation."""
    import polars

    rows: list[dict[str, Any]] = []
    titles: list[str] = []
    for group in by_population(result):
        name = group[0].population
        titles.append(f"{name} ({titles.count(name) + 1})" if name in titles else name)
        rows += [{"panel": titles[-1], "policy": one.policy, **row} for one in group for row in trajectory_rows(one)]
    n_runs, seed = result.config.n_runs, result.config.seed
    shown = f"Mean of {n_runs:,} runs, seed {seed}; bands are 95% intervals of the mean."
    return lines(
        polars.DataFrame(rows, infer_schema_length=None).fill_nan(None),
        panels="panel",
        series="policy",
        n_columns=1,
        share_y=False,
        y_label="surplus reward (e.g. lives) over uniform randomisation",
        note="\n".join([shown if n_runs > 1 else f"One run, seed {seed}.", *notes]),
    )
