"""Studies of a second or less, and what they leave in a folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from adhere.report.section import AGREES, Claim, ReportFigure, Section
from adhere.simulation import SimulationResult
from adhere.studies.framework.study import Experiment, Study

if TYPE_CHECKING:
    import polars
    from matplotlib.figure import Figure

    from adhere.studies.framework.study import Tables

N_BLOCKS = 3  # of a simulation, for threads to share
SMALL = Experiment(["thompson", "uniform"], ["defiers"], n_patients=10, n_runs=1024 * N_BLOCKS)


# A simulation that takes weeks.
ENDLESS = {"all": replace(SMALL, n_patients=10**6, n_runs=10**6)}


def simulated(name: str = "simulated", after: Callable[[], None] | None = None) -> Study:
    """A study with a simulation, after which something may happen."""

    def tables(results: Mapping[str, SimulationResult]) -> dict[str, polars.DataFrame]:
        import polars

        if after is not None:
            after()
        outcomes = results["all"].outcomes
        columns = {"policy": [one.policy for one in outcomes], "surplus": [one.surplus.mean for one in outcomes]}
        return {
            "final": polars.DataFrame(columns),
            "size": polars.DataFrame({"runs": [results["all"].config.n_runs]}),
        }

    texts = partial(_section, name)
    return Study(name, f"A study called {name}", {"all": SMALL}, tables, texts)


def counted(name: str = "counted", drawing: Callable[[], None] | None = None) -> Study:
    """A study with nothing to simulate; something may happen while its figure is drawn."""

    def tables(results: Mapping[str, SimulationResult]) -> dict[str, polars.DataFrame]:
        import polars

        return {"final": polars.DataFrame({"policy": ["none"], "surplus": [0.25]})}

    texts = partial(_section, name, drawing=drawing)
    return Study(name, f"A study called {name}", {}, tables, texts)


def _section(name: str, tables: Tables, drawing: Callable[[], None] | None = None) -> Section:
    """The section of a study: a claim and a figure."""

    def draw() -> Figure:
        from matplotlib.figure import Figure

        if drawing is not None:
            drawing()
        figure = Figure(figsize=(1, 1))
        figure.subplots().plot([0, tables["final"]["surplus"][0]])
        return figure

    result = f"It is {tables['final']['surplus'][0]:.3f}."
    return Section(
        "",
        "",
        "Is it?",
        result,
        "Quite.",
        claims=[Claim(f"the claim of {name}", "more than 0", result, AGREES)],
        figures=[ReportFigure(f"{name}-figure", "A line.", "A line goes up.", draw)],
    )


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, by its path there."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


BOTH = (simulated(), counted())
WHOLE = {  # what both leave in a folder
    "data/counted/final.csv",
    "data/counted/final.parquet",
    "data/counted/made-with.json",
    "data/simulated/final.csv",
    "data/simulated/final.parquet",
    "data/simulated/made-with.json",
    "data/simulated/size.csv",
    "data/simulated/size.parquet",
    "figures/counted-figure.png",
    "figures/counted-figure.svg",
    "figures/simulated-figure.png",
    "figures/simulated-figure.svg",
    "index.html",
    "run.json",
}
