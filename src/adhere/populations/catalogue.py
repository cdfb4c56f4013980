"""Find a population by its name or its file."""

import warnings
from collections.abc import Callable, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Final, TypeAlias

from adhere.errors import InputError, nearest
from adhere.frames import FrameLike
from adhere.populations.compliance_types import read_compliance_types
from adhere.populations.examples import corrective, defiers, homogeneous, rich_and_poor
from adhere.populations.population import Population
from adhere.populations.priors import uniform_any, uniform_corrective, uniform_other
from adhere.populations.records import Records, read_records
from adhere.populations.stroke import stroke_aspirin, stroke_heparin
from adhere.records.table import SUFFIXES, is_table

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
    """Return the names of the populations in the package, each with a one-line description."""
    return {name: description for name, (_, description) in _BUILT_IN.items()}


# A population, its name, the path of a file, or a frame.
PopulationLike: TypeAlias = Population | str | PathLike[str] | FrameLike


def as_population(
    given: PopulationLike,
    *,
    name: str | None = None,
    chosen: str | None = None,
    actual: str | None = None,
    reward: str | None = None,
    count: str | None = None,
    arms: Sequence[object] | None = None,
    control: str | float | None = None,
    lower_is_better: bool | None = None,
) -> Population:
    """Return the population that a name, a file or a frame stands for.

    Parameters
    ----------
    given : Population, str, path or frame
        Population, or the name of a built-in one. A path that ends with `.toml` contains compliance types; one that
        ends with `.csv`, `.csv.gz`, `.tsv` or `.parquet` contains counts or records. A frame can be of pandas or
        polars. `stroke-aspirin:PATH` and `stroke-heparin:PATH` read the full published file.
    name : str, optional
        Name of the population in results, if it comes from a table (a frame or a file of records).
    chosen : str, optional
        Column of the arm recommended. The default is `chosen` or the name in CDISC.
    actual : str, optional
        Column of the arm taken.
    reward : str, optional
        Column of the outcome.
    count : str, optional
        Column of the number of patients.
    arms : sequence, optional
        All arms of a table in their order. The default follows the rule of `adhere.records.arms`.
    control : str or float, optional
        Arm of a table that comes first.
    lower_is_better : bool, optional
        Whether a lower outcome of a table is better, for example because 1 is a death. The reward of an outcome y is
        then 1 − y. The default is what an exported table says (LOWERFL), and otherwise False.

    Returns
    -------
    Population
        Population.

    See Also
    --------
    describe : Describe a population in plain text.
    simulate : Simulate policies on populations.

    Notes
    -----
    Rows of a table that lack the arm recommended, the arm taken or the outcome are left out. A warning counts them.

    Examples
    --------
    >>> as_population(" Defiers ").name
    'defiers'

    """
    columns = {"chosen": chosen, "actual": actual, "reward": reward, "count": count}
    options = {"name": name, **columns, "arms": arms, "control": control, "lower_is_better": lower_is_better}
    records = records_of(given, **options)
    if records is not None:
        population = records.population()
        if note := records.note():
            warnings.warn(note, stacklevel=2)
        return population
    for argument, value in options.items():
        if value is not None:
            raise InputError(argument, value, "a table to go with it: a frame, or a file of records")
    if isinstance(given, Population):
        return given
    if not isinstance(given, (str, PathLike)):
        raise InputError("population", given, "a population, the name of one, a frame, or the path of a file")
    text = str(fspath(given)).strip()
    if published := _published(text):
        return published[0](published[1])
    if text.lower() in _BUILT_IN:
        return _BUILT_IN[text.lower()][0]()
    if text.lower().endswith(".toml"):
        return read_compliance_types(Path(text))
    expected = f"a file ending in .toml, {', '.join(SUFFIXES)}, or {nearest(text, _BUILT_IN)}"
    raise InputError("population", text, expected)


def records_of(given: object, **options: Any) -> Records | None:
    """Return the records of a frame or a file of records, or None if the argument is neither."""
    is_published = isinstance(given, (str, PathLike)) and _published(str(fspath(given)))
    return None if is_published or not is_table(given) else read_records(given, **options)


def _published(text: str) -> tuple[Callable[[str], Population], str] | None:
    """Return the reader and the path of a published file that a text like `stroke-aspirin:PATH` names."""
    known, _, path = (part.strip() for part in text.partition(":"))
    reader = _FROM_PUBLISHED.get(known.lower())
    return (reader, path) if reader is not None and path else None
