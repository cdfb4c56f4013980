"""Simulation results on disk: numbers as Parquet, everything else as JSON; reading restores every bit."""

import hashlib
import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import polars

from adhere.errors import InputError
from adhere.simulation.measures.moments import Moments
from adhere.simulation.measures.quantiles import QuantileSketch

_FORMAT = 1
_SCHEMA = {"outcome": polars.Int32, "kind": polars.String, "column": polars.Int64, "value": polars.Float64}
_TEXTS = ("policy", "resolved", "population", "source", "arms", "components")
_LATER_TEXTS = ("arm_order", "best_arm")  # missing in older files
NUMBERS, RUNS, REST = "result.parquet", "runs.parquet", "result.json"
_NEW = ".new"


def save(folder: Path, config: dict[str, Any], outcomes: list[dict[str, Any]], runs: polars.DataFrame | None) -> None:
    """Write a result's configuration and outcomes (as their fields) into a folder, and its runs if they were kept."""
    folder.mkdir(parents=True, exist_ok=True)
    frames, described = [], []
    for index, outcome in enumerate(outcomes):
        moments, (used, n_each, lowest, highest) = outcome["moments"], outcome["sketch"].used()
        every = np.arange(moments.mean.size)
        kinds = {"mean": (every, moments.mean), "deviations": (every, moments.deviations)}
        for kind, (column, value) in {**kinds, "surplus_sketch": (used, n_each)}.items():
            data = {"outcome": index, "kind": kind, "column": column, "value": value}
            frames.append(polars.DataFrame(data, schema=_SCHEMA))
        texts = {name: outcome[name] for name in (*_TEXTS, *_LATER_TEXTS)}
        described.append({**texts, "n": moments.n, "surplus_range": [lowest, highest]})
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        tables = {NUMBERS: polars.concat(frames), **({} if runs is None else {RUNS: runs})}
        digests = {}
        for name, table in tables.items():
            table.write_parquet(Path(scratch) / name)
            digests[name] = _digest(Path(scratch) / name)
        rest = Path(scratch) / REST
        # The seed is text, since a JSON reader may only support whole numbers up to 2**53.
        written = {**config, "seed": str(config["seed"])}
        named = {"numbers": digests[NUMBERS], "runs": digests.get(RUNS)}
        document = {"format": _FORMAT, **named, "config": written, "outcomes": described}
        rest.write_text(json.dumps(document, indent=1), encoding="utf-8")
        # The second replacement decides: before it `load` reads the old result, after it the new one, because `load`
        # takes the numbers that the document names.
        for name in tables:
            (Path(scratch) / name).replace(folder / f"{name}{_NEW}")
        rest.replace(folder / REST)
        for name in tables:
            (folder / f"{name}{_NEW}").replace(folder / name)
        if runs is None:
            (folder / RUNS).unlink(missing_ok=True)


def load(folder: Path) -> tuple[dict[str, Any], list[dict[str, Any]], polars.DataFrame | None]:
    """Read what `save` wrote."""
    document = _read_document(folder / REST)
    numbers = _read_table(folder, NUMBERS, document["numbers"])
    table = numbers.partition_by("outcome", "kind", as_dict=True)
    config = document["config"]
    config |= {"grid": tuple(config["grid"]), "seed": int(config["seed"])}  # in older files the seed is a number
    outcomes = []
    for index, stored in enumerate(document["outcomes"]):
        rows = {kind: own for (i, kind), own in table.items() if i == index}
        mean, deviations = (rows[kind]["value"].to_numpy().copy() for kind in ("mean", "deviations"))
        used, n_each = (rows["surplus_sketch"][name].to_numpy() for name in ("column", "value"))
        outcomes.append(
            {
                **{name: stored[name] for name in _TEXTS},
                **{name: stored.get(name, "") for name in _LATER_TEXTS},
                "arms": tuple(stored["arms"]),
                "components": tuple(stored["components"]),
                "grid": config["grid"],
                "moments": Moments(stored["n"], mean, deviations),
                "sketch": QuantileSketch.from_used(used, n_each, *stored["surplus_range"]),
            }
        )
    runs = document.get("runs")  # missing in older files
    return config, outcomes, None if runs is None else _read_table(folder, RUNS, runs)


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


def _read_table(folder: Path, name: str, digest: str) -> polars.DataFrame:
    for path in (folder / name, folder / f"{name}{_NEW}"):
        if path.is_file() and _digest(path) == digest:
            return polars.read_parquet(path)
    raise InputError("file", str(folder / name), f"the numbers that {REST} beside it names")


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
