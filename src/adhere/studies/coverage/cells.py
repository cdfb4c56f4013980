"""The cells of the study: which trials are drawn, and how many."""

from __future__ import annotations

from typing import NamedTuple

from adhere.studies.coverage.people import ADAPTIVE, FIXED, LARGE


class FixedCell(NamedTuple):
    """Trials of a fixed design on one population."""

    people: str
    n_per_arm: int
    n_trials: int

    @property
    def title(self) -> str:
        """What a progress bar calls it."""
        return f"{self.people}, {self.n_per_arm}"


class AdaptiveCell(NamedTuple):
    """Trials under a policy on one population."""

    people: str
    policy: str
    n_patients: int
    n_trials: int

    @property
    def title(self) -> str:
        """What a progress bar calls it."""
        return self.policy


class RedrawnCell(NamedTuple):
    """Trials under a policy on one population, with the randomisation test by so many redraws."""

    people: str
    policy: str
    n_patients: int
    n_trials: int
    n_redraws: int

    @property
    def title(self) -> str:
        """What a progress bar calls it."""
        return "randomisation test"


Cell = FixedCell | AdaptiveCell | RedrawnCell

POLICIES = (
    "thompson",
    "hierarchical(epsilon-greedy)",
    "thompson-bounded(hierarchical(epsilon-greedy))",
    "mediated-thompson",
)
_LABELS = {
    "thompson-bounded": "ThompsonBounded",
    "hierarchical": "HierarchicalBandit",
    "mediated-thompson": "MediatedThompson",
    "thompson": "Thompson",
}
FLOOR = 0.1
_FEW = 200  # patients an arm


def with_floor(policy: str) -> str:
    """The policy with a least probability of each arm."""
    return f"floor({policy}, share={FLOOR:g})"


def policy_label(text: str) -> str:
    """A policy's text, short enough for a figure.

    >>> policy_label("floor(thompson-bounded(hierarchical(epsilon-greedy)), share=0.1)")
    'ThompsonBounded with floor'
    """
    inner = text.removeprefix("floor(")
    name = next(label for begin, label in _LABELS.items() if inner.startswith(begin))
    return name if inner == text else f"{name} with floor"


ALL_POLICIES = tuple(text for policy in POLICIES for text in (policy, with_floor(policy)))


def _cells(n_fixed: int, sizes: tuple[int, ...], n_adaptive: int, n_patients: int, redrawn: int) -> tuple[Cell, ...]:
    return (
        *(FixedCell(who.name, _FEW, n_fixed) for who in FIXED),
        *(FixedCell(name, size, n_fixed) for size in sizes for name in LARGE),
        *(AdaptiveCell(who.name, text, n_patients, n_adaptive) for who in ADAPTIVE for text in ALL_POLICIES),
        *(
            RedrawnCell(ADAPTIVE[0].name, text, n_patients, redrawn, 199)
            for text in ("thompson", with_floor("thompson"))
        ),
    )


FULL = _cells(10_000, (1000,), 2000, 500, 1000)
QUICK = _cells(500, (), 60, 300, 100)
