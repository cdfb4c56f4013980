"""The table of mutants fits the sources: a slip that cannot be made any more would be noticed by nobody."""

from __future__ import annotations

from pathlib import Path

import pytest

from .mutants import MUTANTS, Mutant
from .run import ROOT, mutated


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_changes_one_place(mutant: Mutant) -> None:
    text = (ROOT / mutant.file).read_text(encoding="utf-8")
    assert text.count(mutant.old) == 1, f"{mutant.file} has changed: bring the mutant up to date"
    assert mutated(text, mutant) != text
    for path in mutant.near:
        assert Path(ROOT, path.partition("::")[0]).exists(), path


def test_names_are_different() -> None:
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS) >= 30


def test_a_text_that_is_not_there_once_is_refused() -> None:
    with pytest.raises(SystemExit, match=r"its old text is 2 times in .*, expected once"):
        mutated("a a", MUTANTS[0]._replace(old="a"))
