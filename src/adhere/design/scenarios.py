"""Scenarios from populations, files or a grid of effect × compliance × confounding, each grid with both nulls."""

from __future__ import annotations

from adhere.design.scenario import Scenario
from adhere.trial.design import Design


def read_scenarios(given: object, design: Design) -> tuple[Scenario, ...]:
    """The scenarios that somebody means, checked against a design's arms.

    Parameters
    ----------
    given
        A scenario, a population, the name of one or the path of its file; a grid as a mapping, or the path of a TOML
        file with a table `[scenarios]`; several of these in a list; or None for a default grid.
    design
        Whose arms they must have.

    """
    raise NotImplementedError
