"""Simulation results on disk: numbers as Parquet, everything else as JSON, equal to the bit when read back."""

from __future__ import annotations

import hashlib
import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from adhere.errors import InputError
from adhere.simulation.moments import Moments
from adhere.simulation.quantiles import N_BUCKETS, QuantileSketch

if TYPE_CHECKING:
    import polars

_FORMAT = 1
_TEXTS = ("policy", "resolved", "population", "source", "arms", "deciders")
NUMBERS, NEW_NUMBERS, REST = "result.parquet", "result.parquet.new", "result.json"


def save(folder: Path, config: dict[str, Any], outcomes: list[dict[str, Any]]) -> None:
    """Write a result's configuration and outcomes, as their fields, into a folder."""
    import polars

    folder.mkdir(parents=True, exist_ok=True)
    frames = []
    for index, outcome in enumerate(outcomes):
        moments, counts = outcome["moments"], outcome["sketch"].counts
        used = np.flatnonzero(counts)
        frames.append(_frame(index, "mean", np.arange(moments.mean.size), moments.mean))
        frames.append(_frame(index, "deviations", np.arange(moments.mean.size), moments.deviations))
        frames.append(_frame(index, "surplus_sketch", used, counts[used].astype(np.float64)))
    described = [
        {
            **{name: outcome[name] for name in _TEXTS},
            "n": outcome["moments"].n,
            "surplus_range": [outcome["sketch"].lowest, outcome["sketch"].highest],
        }
        for outcome in outcomes
    ]
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        numbers, rest = Path(scratch) / NUMBERS, Path(scratch) / REST
        polars.concat(frames).write_parquet(numbers)
        digest = hashlib.sha256(numbers.read_bytes()).hexdigest()
        document = {"format": _FORMAT, "numbers": digest, "config": config, "outcomes": described}
        rest.write_text(json.dumps(document, indent=1), encoding="utf-8")
        # The second step is the one that counts: before it the old result is read, after it the new one, since
        # `load` takes whichever numbers the document names.
        numbers.replace(folder / NEW_NUMBERS)
        rest.replace(folder / REST)
        (folder / NEW_NUMBERS).replace(folder / NUMBERS)


def _frame(outcome: int, kind: str, column: Any, value: Any) -> polars.DataFrame:
    import polars

    schema = {"outcome": polars.Int32, "kind": polars.String, "column": polars.Int64, "value": polars.Float64}
    n = len(column)
    data = {"outcome": [outcome] * n, "kind": [kind] * n, "column": column, "value": value}
    return polars.DataFrame(data, schema=schema)


def load(folder: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Read what `save` wrote."""
    document = _read_document(folder / REST)
    table = _read_numbers(folder, document["numbers"])
    config = {**document["config"], "grid": tuple(document["config"]["grid"])}
    outcomes = []
    for index, stored in enumerate(document["outcomes"]):
        rows = {kind: own for (i, kind), own in table.items() if i == index}
        mean, deviations = (rows[kind]["value"].to_numpy().copy() for kind in ("mean", "deviations"))
        counts = np.zeros(N_BUCKETS, np.int64)
        sketch = rows["surplus_sketch"]
        counts[sketch["column"].to_numpy()] = sketch["value"].to_numpy().astype(np.int64)
        outcomes.append(
            {
                **{name: stored[name] for name in _TEXTS},
                "arms": tuple(stored["arms"]),
                "deciders": tuple(stored["deciders"]),
                "grid": config["grid"],
                "moments": Moments(stored["n"], mean, deviations),
                "sketch": QuantileSketch(counts, *stored["surplus_range"]),
            }
        )
    return config, outcomes


def _read_document(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise InputError("folder", str(path.parent), f"a folder with {REST}, as SimulationResult.save writes it")
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        found = document["format"]
    except (ValueError, KeyError, TypeError):
        raise InputError("file", str(path), "a whole file, as SimulationResult.save writes it") from None
    if found != _FORMAT:
        raise InputError("format", found, f"{_FORMAT}, the one this version of adhere reads")
    return document  # type: ignore[no-any-return]


def _read_numbers(folder: Path, digest: str) -> dict[tuple[object, ...], polars.DataFrame]:
    """The numbers by outcome and kind."""
    import polars

    for path in (folder / NUMBERS, folder / NEW_NUMBERS):
        if path.is_file() and hashlib.sha256(contents := path.read_bytes()).hexdigest() == digest:
            return polars.read_parquet(contents).partition_by("outcome", "kind", as_dict=True)
    raise InputError("file", str(folder / NUMBERS), f"the numbers that {REST} beside it names")
