"""Scenarios from populations, files, or a grid of effect × compliance × confounding with both nulls."""

from collections.abc import Iterable, Mapping
from os import PathLike, fspath
from pathlib import Path
from typing import Any, TypeAlias

from adhere.design.design import Design
from adhere.design.design_file import read_document
from adhere.errors import InputError
from adhere.evaluation.scenarios.scenario import Scenario, null_of
from adhere.evaluation.scenarios.scenario_grid import LOWERING_GRID, USUAL_GRID, ScenarioGrid, usual_average
from adhere.populations import Population, PopulationLike, as_population
from adhere.records.table import is_table

ScenarioLike: TypeAlias = Scenario | ScenarioGrid | PopulationLike | Mapping[str, Any]
ScenariosLike: TypeAlias = ScenarioLike | Iterable[ScenarioLike]


def read_scenarios(given: object, design: Design) -> tuple[Scenario, ...]:
    """Read scenarios, and check them against a design's arms and outcomes.

    Parameters
    ----------
    given
        One of the following, or a list of them. A scenario; a population, its name, or the path of its file; a grid
        (`ScenarioGrid`, or a mapping of its fields, which may also have `populations`); the path of a TOML or JSON
        file with a table `scenarios`, such as the design's own file. None is the default grid.
    design
        Design with the arms that the scenarios must have.

    >>> from adhere.design.make_design import make_design
    >>> design = make_design("a", "thompson", ["old", "new"])
    >>> [one.name for one in read_scenarios({"effect": 0.1, "compliance": 0.7, "confounding": 0}, design)]
    ['sharp null, compliance 70%', 'average null, compliance 70%', 'effect 0.1, compliance 70%']

    """
    found = tuple(_each(usual_grid(design) if given is None else given, design, Path()))
    if not found:
        raise InputError("scenarios", given, "at least one scenario")
    names = set()
    for one in found:
        if one.name in names:
            raise InputError("scenarios", one.name, "each once", f"scenarios: {one.name!r} is listed twice")
        names.add(one.name)
        _check(one, design)
    return found


def _each(given: Any, design: Design, folder: Path) -> Iterable[Scenario]:
    """Return the scenarios of one input; paths are relative to a folder."""
    if isinstance(given, Scenario):
        return (given,)
    if isinstance(given, ScenarioGrid):
        control = None if design.control is None else design.arms.index(design.control)
        return given.scenarios(design.arms, control)
    if isinstance(given, Mapping):
        return _of_table(given, design, folder)
    if isinstance(given, (list, tuple)):
        return [scenario for one in given for scenario in _each(one, design, folder)]
    if isinstance(given, (str, PathLike)):
        path = folder / str(fspath(given)).strip()
        if (table := scenario_table(path)) is not None:
            return _of_table(table, design, path.parent)
        given = str(path) if path.suffix else given  # the name of a population has no suffix
    # A table gets the order of the design's arms; other inputs have their own order. If lower outcomes are better,
    # the design itself reverses the outcomes of every scenario.
    if is_table(given):
        population = as_population(
            given,
            arms=design.arms,
            control=design.arms[0],
            lower_is_better=False if design.lower_is_better else None,
        )
    else:
        population = as_population(given)
    return (Scenario(population.name, population, null_of(population)),)


def _of_table(table: Mapping[str, Any], design: Design, folder: Path) -> list[Scenario]:
    """Return the scenarios of a table: of its grid, if it has one, and of its populations."""
    rest = {name: value for name, value in table.items() if name != "populations"}
    found: list[Scenario] = []
    if rest or "populations" not in table:
        found += _each(ScenarioGrid.read(rest) if rest else usual_grid(design), design, folder)
    named = table.get("populations", [])
    if not isinstance(named, (list, tuple)):
        raise InputError("scenarios.populations", named, "a list of names, files or populations")
    return found + [scenario for one in named for scenario in _each(one, design, folder)]


def given_or_own(scenarios: ScenariosLike | None, design: object) -> ScenariosLike | None:
    """Return the scenarios. If none were given and the design is a file with scenarios, return the file's path."""
    if scenarios is None and isinstance(design, (str, PathLike)) and scenario_table(Path(design)) is not None:
        return design
    return scenarios


def usual_grid(design: Design) -> ScenarioGrid:
    """Return the default grid for a design. Its effects are benefits: below 0 if lower outcomes are better."""
    return LOWERING_GRID if design.lower_is_better else USUAL_GRID


def note_on_outcomes(design: Design) -> tuple[str, ...]:
    """Return a note on how outcomes are converted if lower outcomes are better; otherwise return no note."""
    said = (
        "lower outcomes are better: every outcome y is read as 1 − y, in means and effects alike, so that an effect "
        "above 0 is good; scenarios give y itself"
    )
    return (said,) if design.lower_is_better else ()


def note_on_default(scenarios: object, grid: ScenarioGrid) -> tuple[str, ...]:
    """Return a note on the default grid if neither the caller nor the design's file gave scenarios."""
    said = f"scenarios: none were given, so these are the default: {grid.in_words()}"
    return (said,) if scenarios is None else ()


def note_on_nulls(scenarios: Iterable[Scenario]) -> tuple[str, ...]:
    """Return a note on each baseline that leaves no room for an average null."""
    baselines = dict.fromkeys(
        one.baseline
        for one in scenarios
        if one.null == "sharp" and one.compliance and one.baseline is not None and not usual_average(one.baseline)
    )
    return tuple(
        f"scenarios: a baseline of {baseline:g} leaves no room for effects that cancel out, so its grid has no "
        "average null, only the sharp one"
        for baseline in baselines
        if not any(one.average_null and one.baseline == baseline for one in scenarios)
    )


def scenario_table(path: Path) -> Mapping[str, Any] | None:
    """Return the table `scenarios` of a TOML or JSON file; None if there is none."""
    if path.suffix.lower() not in (".toml", ".json"):
        return None
    try:
        document = read_document(path)
    except InputError as error:
        raise InputError(error.field, error.value, error.expected, f"{path}: {error}") from None
    except (OSError, ValueError, RecursionError):
        return None  # reading it as a population reports the error
    table = document.get("scenarios") if isinstance(document, dict) else None
    if table is not None and not isinstance(table, dict):
        raise InputError("scenarios", table, "a table")
    return table


def _check(scenario: Scenario, design: Design) -> None:
    population: Population = scenario.population
    if population.arms != design.arms:
        own, other = ", ".join(population.arms), ", ".join(design.arms)
        sentence = f"scenarios: {scenario.name!r} has the arms {own}; the design has {other}"
        raise InputError("scenarios", scenario.name, "the arms of the design, in their order", sentence)
    unknown = [f"{value:g}" for value in population.reward_values if value not in design.reward_values]
    if unknown:
        known = ", ".join(f"{value:g}" for value in design.reward_values)
        sentence = (
            f"scenarios: {scenario.name!r} has the outcome {unknown[0]}, which is none of the design's "
            f"reward_values ({known})"
        )
        raise InputError("scenarios", scenario.name, "outcomes that the design allows", sentence)
