"""The names of all numbers in results: columns of frames, fields of JSON documents and of the service's answers."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

import polars

from adhere import simulate
from adhere.evaluation.characteristics.quantities import MEANINGS
from adhere.evaluation.kept_trials import KeptTrials
from adhere.evaluation.outcomes import TrialOutcomes
from adhere.populations import records_json, records_of
from adhere.service.api.openapi import document
from adhere.service.pages.routes import ROUTES
from adhere.studies.arena.tables import SCHEMAS
from adhere.studies.coverage.tables import INTERVALS, TESTS
from analysis.made_analysis import made as made_analysis
from evaluation.made_evaluation import made as made_evaluation

ENDS = ("se", "low", "high", "sd", "q05", "q25", "q50", "q75", "q95")  # what a name may end with, after an underscore
_NAME = re.compile(r"[a-z][a-z0-9_]*")
# What a design or a request says, and a response repeats: the design file and the OpenAPI document name it.
_GIVEN = {
    "Delay",
    "Design",
    "Enrolment",
    "Imputation",
    "ImputationRule",
    "Looks",
    "Missing",
    "Rate",
    "Stopping",
    "ExploredGroup",
    "ExplorationSettings",
}
_ADDRESSES = {"id", "token", "record", "after", "before", "next"}  # of a thing: no quantities


@cache
def result_names() -> Mapping[str, frozenset[str]]:
    """Where each name is used; ends of names are left out."""
    found: dict[str, set[str]] = defaultdict(set)
    for where, names in _everywhere():
        for name in names:
            found[_without_end(name)].add(where)
    return {name: frozenset(where) for name, where in found.items()}


def _without_end(name: str) -> str:
    start, _, end = name.rpartition("_")
    return start if start and end in ENDS else name


def _everywhere() -> Iterator[tuple[str, Iterable[str]]]:
    result = simulate(["thompson", "uniform"], "rich-and-poor", 20, 10, keep_runs=True, progress=False)
    for frame in (result.to_polars(), result.to_polars(final=True), result.runs.to_polars()):
        yield "simulate", _columns(frame, result[0].arms)
    yield "simulate", _fields(result.to_json(), result[0].arms)

    evaluation = made_evaluation()
    design = evaluation.designs[0]
    yield "evaluate", _columns(evaluation.to_polars(), design.arms)
    found = {name: value for name, value in evaluation.to_json().items() if name != "designs"}
    yield "evaluate", _fields(found, design.arms)
    yield "evaluate", MEANINGS
    kept = KeptTrials(evaluation.designs, evaluation.scenarios[:1], (TrialOutcomes.zeros(0, len(design.arms), 1),))
    yield "evaluate", _columns(kept.to_polars(), design.arms)

    analysis = made_analysis()
    yield "analyse", _fields(analysis.to_json(), analysis.arms)
    counts = polars.DataFrame({"chosen": ["a b", "b c"], "actual": ["a b", "b c"], "reward": [0, 1], "count": [3, 4]})
    records = records_of(counts)
    assert records is not None
    yield "populations", _fields(records_json(records), records.arms)
    for schema in SCHEMAS.values():
        yield "arena", (name for name, kind in schema.items() if kind.is_numeric())
    for kinds in (INTERVALS, TESTS):
        yield "coverage", (name for name, kind in kinds.items() if kind.is_numeric())
    yield "service", _of_service()


def _columns(frame: polars.DataFrame, arms: Iterable[str]) -> set[str]:
    """The columns of numbers, without the names of arms and estimands at their ends."""
    names = {one.name for one in frame if one.dtype.is_numeric()}
    ends = [f"_{arm}" for arm in arms]
    return {re.sub(f"({'|'.join(map(re.escape, ends))})(_.*)?$", "", name) for name in names}


def _fields(value: Any, arms: Iterable[str]) -> Iterator[str]:
    """The fields of a JSON document that have numbers, lists of numbers or numbers by arm."""
    if isinstance(value, list):
        for one in value:
            yield from _fields(one, arms)
    if isinstance(value, dict):
        for name, one in value.items():
            if _NAME.fullmatch(name) and name not in arms and _is_number(one):
                yield name
            yield from _fields(one, arms)


def _is_number(value: Any) -> bool:
    if isinstance(value, dict) and ("mean" in value or "value" in value):
        return True  # with its interval
    if isinstance(value, dict):
        return (
            bool(value) and not any(_NAME.fullmatch(name) for name in value) and all(map(_is_number, value.values()))
        )
    if isinstance(value, list):
        return any(map(_is_number, value))
    return isinstance(value, int | float) and not isinstance(value, bool)


def _of_service() -> Iterator[str]:
    """The fields of numbers in what the service answers."""
    described = json.loads(document(ROUTES))
    schemas, reached = described["components"]["schemas"], set()

    def reach(part: Any) -> None:
        for one in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
            name = one.rpartition("/")[2] if isinstance(one, str) and one.startswith("#/components/schemas/") else ""
            if name and name not in reached and name not in _GIVEN:
                reached.add(name)
                reach(schemas[name])
            reach(one)

    for methods in described["paths"].values():
        for operation in methods.values():
            reach([said for status, said in operation["responses"].items() if status < "300"])
    for name in reached - {"Problem"}:
        own = schemas[name].get("properties", {})
        yield from (field for field, kind in own.items() if _has_numbers(kind, schemas) and field not in _ADDRESSES)


def _has_numbers(kind: Any, schemas: Any) -> bool:
    if kind.get("type") in ("number", "integer"):
        return True
    if "$ref" in kind:
        return not {"mean", "value"}.isdisjoint(schemas[kind["$ref"].rpartition("/")[2]].get("properties", ()))
    inner = [
        *kind.get("anyOf", ()),
        *kind.get("prefixItems", ()),
        kind.get("items"),
        kind.get("additionalProperties"),
    ]
    return any(_has_numbers(one, schemas) for one in inner if isinstance(one, dict))
