"""The parts of the reference that somebody wrote agree with the program."""

from __future__ import annotations

import tomllib
from typing import Any

import polars
import pytest

from adhere.design.design import Design
from adhere.evaluation.kept_trials import KeptTrials
from adhere.evaluation.outcomes import TrialOutcomes
from adhere.studies.arena.tables import SCHEMAS
from adhere.studies.coverage.tables import INTERVALS, TESTS
from adhere.trial.log.table import schema
from analysis.made_analysis import made as made_analysis
from evaluation.made_evaluation import made as made_evaluation
from simulation.results import a_result

from .pages import DOCS

COLUMNS: dict[str, dict[str, str]] = tomllib.loads((DOCS / "_ext" / "columns.toml").read_text(encoding="utf-8"))
NAMES = tomllib.loads((DOCS / "_ext" / "names.toml").read_text(encoding="utf-8"))
ENDS = ("_se", "_low", "_high")


def documented(title: str) -> list[str]:
    """The columns of a table that the page lists."""
    return [name for name in COLUMNS[title] if name != "_about"]


def by_arm(names: list[str], arms: tuple[str, ...], estimands: tuple[str, ...] = ()) -> list[str]:
    """The columns of a frame, with ARM and ESTIMAND for names of arms and estimands, each once."""
    found = []
    for name in names:
        for arm in arms:
            for estimand in (*estimands, ""):
                end = f"_{arm}_{estimand}" if estimand else f"_{arm}"
                if name.endswith(end):
                    name = name.removesuffix(end) + ("_ARM_ESTIMAND" if estimand else "_ARM")
                    break
        found.append(name)
    return list(dict.fromkeys(found))


def test_every_column_has_a_meaning() -> None:
    known = {name for rows in NAMES.values() for name in rows}
    assert [
        name for rows in COLUMNS.values() for name, meaning in rows.items() if not meaning and name not in known
    ] == []


def test_the_export_of_a_trial() -> None:
    design = Design("t", "thompson", ("no", "yes"), strata=("a", "b"), rehearsal=True, lower_is_better=True)
    names = [name.replace("PROB_no", "PROB_ARM") for name in schema(design) if name != "PROB_yes"]
    assert documented("The export of a trial") == names


@pytest.mark.parametrize("final", [False, True])
def test_the_frames_of_a_simulation(final: bool) -> None:
    result = a_result(3, 1)
    frame = result.to_polars(final=final)
    names = by_arm(frame.columns, result[0].arms)
    if final:
        names = [name for name in names if not name.endswith((*ENDS, "_q25", "_q50", "_q75", "_q95"))]
    assert documented(f"SimulationResult.to_polars({'final=True' if final else ''})") == names


def test_the_frames_of_an_evaluation() -> None:
    evaluation = made_evaluation()
    assert documented("Evaluation.to_polars()") == evaluation.to_polars().columns
    design = evaluation.designs[0]
    outcomes = TrialOutcomes.zeros(0, len(design.arms), 1)
    kept: polars.DataFrame = KeptTrials(evaluation.designs, evaluation.scenarios[:1], (outcomes,)).to_polars()
    names = by_arm(kept.columns, design.arms, ("intention-to-treat", "compliers"))
    assert documented("Evaluation.kept_trials.to_polars()") == names


def test_the_frame_of_an_analysis() -> None:
    assert documented("Analysis.to_polars()") == made_analysis().to_polars().columns


def test_the_tables_of_the_arena() -> None:
    results = [name for name in SCHEMAS["results"] if not name.endswith(ENDS)]
    assert documented("The arena: results") == results
    others: dict[str, Any] = {
        name: kind for title, one in SCHEMAS.items() if title != "results" for name, kind in one.items()
    }
    wanted = {name for name in others if not name.endswith(ENDS) and name not in results}
    assert wanted <= set(documented("The arena: other tables"))


def test_the_tables_of_the_study_of_coverage() -> None:
    names = {name for kinds in (INTERVALS, TESTS) for name in kinds if not name.endswith(ENDS)}
    assert names == set(documented("The study of coverage"))
