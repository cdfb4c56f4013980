"""Find a population by its name or its file."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike, fspath
from pathlib import Path
from typing import Final

from adhere.errors import InputError, nearest
from adhere.populations.counts_file import read_counts
from adhere.populations.examples import corrective, defiers, homogeneous, rich_and_poor
from adhere.populations.population import Population
from adhere.populations.priors import uniform_any, uniform_corrective, uniform_other
from adhere.populations.strata_file import read_strata
from adhere.populations.stroke import stroke_aspirin, stroke_heparin

_BUILT_IN: Final[dict[str, tuple[Callable[[], Population], str]]] = {
    "stroke-aspirin": (stroke_aspirin, "International Stroke Trial, none or aspirin, alive at 14 days"),
    "stroke-heparin": (
        stroke_heparin,
        "International Stroke Trial, no, low or medium heparin, alive at 14 days",
    ),
    "defiers": (defiers, "everybody does the opposite of what they are told (Example 1)"),
    "rich-and-poor": (rich_and_poor, "a harmful treatment that the healthy rich take anyway (Example 2)"),
    "corrective": (corrective, "those who gain by the treatment take it, those it would harm do not"),
    "homogeneous": (homogeneous, "everybody responds alike and complies with probability 0.7"),
    "uniform-other": (uniform_other, "drawn afresh for each run; a non-complier takes the other arm"),
    "uniform-any": (uniform_any, "drawn afresh for each run; a non-complier takes a random arm"),
    "uniform-corrective": (
        uniform_corrective,
        "drawn afresh for each run; a non-complier takes the better arm",
    ),
}
_FROM_PUBLISHED: Final = {"stroke-aspirin": stroke_aspirin, "stroke-heparin": stroke_heparin}


def built_in_populations() -> dict[str, str]:
    """The name of each population that comes with the package, and what it is, in one line."""
    return {name: description for name, (_, description) in _BUILT_IN.items()}


def as_population(given: str | PathLike[str] | Population) -> Population:
    """The population meant by a name, by the path of a file, or by a population itself.

    A name is that of a built-in, in any case; a path ends in `.toml` (strata), `.csv` or `.csv.gz` (counts or
    records). `stroke-aspirin:PATH` and `stroke-heparin:PATH` read the full published file.

    >>> as_population(" Defiers ").name
    'defiers'
    """
    if isinstance(given, Population):
        return given
    if not isinstance(given, (str, PathLike)):
        raise InputError("population", given, "a population, the name of one, or the path of a file")
    text = fspath(given).strip()
    name, _, published_file = (part.strip() for part in text.partition(":"))
    if name.lower() in _FROM_PUBLISHED and published_file:
        return _FROM_PUBLISHED[name.lower()](published_file)
    if text.lower() in _BUILT_IN:
        return _BUILT_IN[text.lower()][0]()
    if text.lower().endswith(".toml"):
        return read_strata(Path(text))
    if text.lower().endswith((".csv", ".csv.gz")):
        return read_counts(Path(text))
    raise InputError("population", text, f"a file ending in .toml, .csv or .csv.gz, or {nearest(text, _BUILT_IN)}")
