"""Simulation results on disk: numbers as Parquet, everything else as JSON, equal to the bit when read back."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars

from adhere.errors import InputError
from adhere.simulation.moments import Moments
from adhere.simulation.quantiles import N_BUCKETS, QuantileSketch

if TYPE_CHECKING:
    from adhere.simulation.result import SimulationResult

_FORMAT = 1


def save(result: SimulationResult, folder: Path) -> None:
    """Write a result into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    frames = []
    for index, outcome in enumerate(result.outcomes):
        moments, counts = outcome.moments, outcome.sketch.counts
        used = np.flatnonzero(counts)
        frames.append(_frame(index, "mean", np.arange(moments.mean.size), moments.mean))
        frames.append(_frame(index, "deviations", np.arange(moments.mean.size), moments.deviations))
        frames.append(_frame(index, "surplus_sketch", used, counts[used].astype(np.float64)))
    outcomes = [
        {
            "policy": outcome.policy,
            "resolved": outcome.resolved,
            "population": outcome.population,
            "source": outcome.source,
            "arms": outcome.arms,
            "deciders": outcome.deciders,
            "n": outcome.moments.n,
        }
        for outcome in result.outcomes
    ]
    document = {"format": _FORMAT, "config": vars(result.config), "outcomes": outcomes}
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        polars.concat(frames).write_parquet(Path(scratch) / "result.parquet")
        (Path(scratch) / "result.json").write_text(json.dumps(document, indent=1), encoding="utf-8")
        for name in ("result.parquet", "result.json"):
            os.replace(Path(scratch) / name, folder / name)  # noqa: PTH105  (atomic on every platform)


def _frame(outcome: int, kind: str, column: Any, value: Any) -> polars.DataFrame:
    schema = {"outcome": polars.Int32, "kind": polars.String, "column": polars.Int64, "value": polars.Float64}
    n = len(column)
    data = {"outcome": [outcome] * n, "kind": [kind] * n, "column": column, "value": value}
    return polars.DataFrame(data, schema=schema)


def load(folder: Path) -> SimulationResult:
    """Read a result from a folder."""
    from adhere.simulation.result import Config, Outcome, SimulationResult

    for name in ("result.json", "result.parquet"):
        if not (folder / name).is_file():
            raise InputError("folder", str(folder), f"a folder with {name}, as SimulationResult.save writes it")
    document = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    if document.get("format") != _FORMAT:
        raise InputError("format", document.get("format"), f"{_FORMAT}, the one this version of adhere reads")
    table = polars.read_parquet(folder / "result.parquet")
    config = Config(**{**document["config"], "grid": tuple(document["config"]["grid"])})
    outcomes = []
    for index, stored in enumerate(document["outcomes"]):
        rows = table.filter(polars.col("outcome") == index)
        values = {kind: rows.filter(polars.col("kind") == kind) for kind in ("mean", "deviations")}
        sketch = rows.filter(polars.col("kind") == "surplus_sketch")
        counts = np.zeros(N_BUCKETS, np.int64)
        counts[sketch["column"].to_numpy()] = sketch["value"].to_numpy().astype(np.int64)
        outcomes.append(
            Outcome(
                policy=stored["policy"],
                resolved=stored["resolved"],
                population=stored["population"],
                source=stored["source"],
                arms=tuple(stored["arms"]),
                deciders=tuple(stored["deciders"]),
                grid=config.grid,
                moments=Moments(
                    stored["n"],
                    values["mean"]["value"].to_numpy().copy(),
                    values["deviations"]["value"].to_numpy().copy(),
                ),
                sketch=QuantileSketch(counts),
            )
        )
    return SimulationResult(config, tuple(outcomes))
