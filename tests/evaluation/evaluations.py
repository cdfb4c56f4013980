"""A small evaluation that tests of all backends run, and what must be the same in each."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from adhere import Evaluation, as_population, evaluate
from adhere.design.design import Design
from adhere.design.parts import Delay, Looks, Stopping

ARMS = ("old", "new")
GRID = {"effect": [0.2], "compliance": [0.7], "confounding": [0.1]}  # and two nulls
PRIOR = replace(as_population("uniform-other"), arms=ARMS)  # another population in each trial
STOPPING = Stopping("posterior", superiority=0.9, inferiority=0.1)
ADAPTIVE = Design("adaptive", "thompson", ARMS, 60, looks=Looks(at=(20, 40)), stopping=STOPPING, delay=Delay(5.0))
SHORTER = Design("shorter", "thompson", ARMS, 40, looks=Looks(at=(20,)), stopping=STOPPING)


def evaluate_designs(designs: Any = (ADAPTIVE, SHORTER), n_trials: int = 900, **arguments: Any) -> Evaluation:
    """Trials of each design in four scenarios, in 50 blocks each unless they are few."""
    return evaluate(designs, [GRID, PRIOR], n_trials, seed=3, **{"progress": False} | arguments)


def numbers(evaluation: Evaluation) -> list[Any]:
    """All that was found, to the bit."""
    return [(one.blocks, one.differences, one.distributions) for one in evaluation.results]
