"""The cells of the study: the trials to draw, and their number."""

from typing import NamedTuple

from adhere.studies.coverage.people import ADAPTIVE, FIXED, LARGE


class Cell(NamedTuple):
    """Trials on one population: of a fixed design, or under a policy, optionally with a test by redraws."""

    people: str
    n_patients: int
    n_trials: int
    policy: str = ""  # empty for a fixed design
    n_redraws: int = 0

    @property
    def is_fixed(self) -> bool:
        """Return whether the design is fixed."""
        return not self.policy

    @property
    def title(self) -> str:
        """The cell's title in a progress bar."""
        fixed = f"{self.people}, {self.n_patients // 2}"
        return fixed if self.is_fixed else "randomisation test" if self.n_redraws else self.policy


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
_FEW = 200  # patients per arm


def with_floor(policy: str) -> str:
    """Return a policy with a minimum probability of each arm."""
    return f"floor({policy}, share={FLOOR:g})"


def policy_label(text: str) -> str:
    """Return a name for a policy that is short enough for a figure.

    >>> policy_label("floor(thompson-bounded(hierarchical(epsilon-greedy)), share=0.1)")
    'ThompsonBounded with floor'
    """
    inner = text.removeprefix("floor(")
    name = next(label for begin, label in _LABELS.items() if inner.startswith(begin))
    return name if inner == text else f"{name} with floor"


ALL_POLICIES = tuple(text for policy in POLICIES for text in (policy, with_floor(policy)))


def _cells(n_fixed: int, sizes: tuple[int, ...], n_adaptive: int, n_patients: int, redrawn: int) -> tuple[Cell, ...]:
    return (
        *(Cell(who.name, 2 * _FEW, n_fixed) for who in FIXED),
        *(Cell(name, 2 * size, n_fixed) for size in sizes for name in LARGE),
        *(Cell(who.name, n_patients, n_adaptive, text) for who in ADAPTIVE for text in ALL_POLICIES),
        *(Cell(ADAPTIVE[0].name, n_patients, redrawn, text, 199) for text in ("thompson", with_floor("thompson"))),
    )


FULL = _cells(10_000, (1000,), 2000, 500, 1000)
QUICK = _cells(500, (), 60, 300, 100)
