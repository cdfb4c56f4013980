"""Simulation results on disk: numbers as Parquet, everything else as JSON, equal to the bit when read back."""

from __future__ import annotations

import hashlib
import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import polars

from adhere.errors import InputError
from adhere.simulation.moments import Moments
from adhere.simulation.quantiles import QuantileSketch

_FORMAT = 1
_SCHEMA = {"outcome": polars.Int32, "kind": polars.String, "column": polars.Int64, "value": polars.Float64}
_TEXTS = ("policy", "resolved", "population", "source", "arms", "deciders")
NUMBERS, NEW_NUMBERS, REST = "result.parquet", "result.parquet.new", "result.json"


def save(folder: Path, config: dict[str, Any], outcomes: list[dict[str, Any]]) -> None:
    """Write a result's configuration and outcomes, as their fields, into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    frames, described = [], []
    for index, outcome in enumerate(outcomes):
        moments, (used, n_each, lowest, highest) = outcome["moments"], outcome["sketch"].used()
        every = np.arange(moments.mean.size)
        kinds = {"mean": (every, moments.mean), "deviations": (every, moments.deviations)}
        for kind, (column, value) in {**kinds, "surplus_sketch": (used, n_each)}.items():
            data = {"outcome": index, "kind": kind, "column": column, "value": value}
            frames.append(polars.DataFrame(data, schema=_SCHEMA))
        texts = {name: outcome[name] for name in _TEXTS}
        described.append({**texts, "n": moments.n, "surplus_range": [lowest, highest]})
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        numbers, rest = Path(scratch) / NUMBERS, Path(scratch) / REST
        polars.concat(frames).write_parquet(numbers)
        digest = hashlib.sha256(numbers.read_bytes()).hexdigest()
        # The seed is text: a reader of JSON may hold whole numbers up to 2**53 only.
        written = {**config, "seed": str(config["seed"])}
        document = {"format": _FORMAT, "numbers": digest, "config": written, "outcomes": described}
        rest.write_text(json.dumps(document, indent=1), encoding="utf-8")
        # The second step is the one that counts: before it the old result is read, after it the new one, since
        # `load` takes whichever numbers the document names.
        numbers.replace(folder / NEW_NUMBERS)
        rest.replace(folder / REST)
        (folder / NEW_NUMBERS).replace(folder / NUMBERS)


def load(folder: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Read what `save` wrote."""
    document = _read_document(folder / REST)
    table = _read_numbers(folder, document["numbers"])
    config = document["config"]
    config |= {"grid": tuple(config["grid"]), "seed": int(config["seed"])}  # the seed was a number at first
    outcomes = []
    for index, stored in enumerate(document["outcomes"]):
        rows = {kind: own for (i, kind), own in table.items() if i == index}
        mean, deviations = (rows[kind]["value"].to_numpy().copy() for kind in ("mean", "deviations"))
        used, n_each = (rows["surplus_sketch"][name].to_numpy() for name in ("column", "value"))
        outcomes.append(
            {
                **{name: stored[name] for name in _TEXTS},
                "arms": tuple(stored["arms"]),
                "deciders": tuple(stored["deciders"]),
                "grid": config["grid"],
                "moments": Moments(stored["n"], mean, deviations),
                "sketch": QuantileSketch.from_used(used, n_each, *stored["surplus_range"]),
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
    for path in (folder / NUMBERS, folder / NEW_NUMBERS):
        if path.is_file() and hashlib.sha256(contents := path.read_bytes()).hexdigest() == digest:
            return polars.read_parquet(contents).partition_by("outcome", "kind", as_dict=True)
    raise InputError("file", str(folder / NUMBERS), f"the numbers that {REST} beside it names")
