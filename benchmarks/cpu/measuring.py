"""Measurements in alternating rounds, A, B, C, A, B, C, …: speeds drift within minutes, ratios in a round hardly."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn


@dataclass(frozen=True)
class Timed:
    """One measurement."""

    seconds: float
    decisions: int

    @property
    def ns(self) -> float:
        """Nanoseconds a decision."""
        return 1e9 * self.seconds / self.decisions


@dataclass(frozen=True)
class Subject:
    """Something that makes decisions, by whom it was made and which policy it follows."""

    maker: str
    policy: str
    run: Callable[[], Timed]


Key = tuple[str, str]  # maker and policy


@dataclass(frozen=True)
class Spread:
    """A median over rounds, and the smallest and largest round."""

    median: float
    lo: float
    hi: float

    @staticmethod
    def of(values: Sequence[float]) -> Spread:
        """The spread of some rounds."""
        return Spread(median(values), min(values), max(values))


@dataclass
class Rounds:
    """Nanoseconds a decision of each subject, round by round."""

    ns: dict[Key, list[float]] = field(default_factory=dict)

    def to_json(self) -> list[dict[str, Any]]:
        """Every round of everyone."""
        return [{"maker": maker, "policy": policy, "ns": ns} for (maker, policy), ns in self.ns.items()]

    @staticmethod
    def from_json(rows: Sequence[dict[str, Any]]) -> Rounds:
        """What `to_json` gave."""
        return Rounds({(row["maker"], row["policy"]): row["ns"] for row in rows})

    def cost(self, key: Key) -> Spread:
        """Nanoseconds a decision."""
        return Spread.of(self.ns[key])

    def ratio(self, above: Key, below: Key) -> Spread:
        """How many times as long one takes as the other, in the same rounds."""
        return Spread.of([a / b for a, b in zip(self.ns[above], self.ns[below], strict=True)])


class Narrator:
    """Says on the terminal what is being done."""

    def __init__(self) -> None:
        self.console = Console()

    def heading(self, text: str) -> None:
        """The next part of the benchmark."""
        self.console.print(f"==> {text}", highlight=False, markup=False, soft_wrap=True)

    def note(self, text: str) -> None:
        """Something worth a line."""
        self.console.print(f"    {text}", highlight=False, markup=False, soft_wrap=True)

    @contextmanager
    def steps(self, total: int) -> Iterator[Callable[[str], None]]:
        """A bar of so many steps; call what it gives with what each step is about, before it."""
        columns = (
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.description}", markup=False),
        )
        hidden = not self.console.is_terminal
        with Progress(*columns, console=self.console, transient=True, disable=hidden) as progress:
            task, begun = progress.add_task("", total=total), 0

            def step(about: str) -> None:
                nonlocal begun
                progress.update(task, completed=begun, description=about)
                begun += 1

            yield step


def alternate(subjects: Sequence[Subject], n_rounds: int, narrator: Narrator) -> Rounds:
    """Run every subject once a round."""
    rounds = Rounds()
    with narrator.steps(n_rounds * len(subjects)) as step:
        for number in range(n_rounds):
            for subject in subjects:
                step(f"round {number + 1}: {subject.maker}, {subject.policy}")
                rounds.ns.setdefault((subject.maker, subject.policy), []).append(subject.run().ns)
    return rounds


def amount_for(seconds: float, run: Callable[[int], float], first: int, most: int) -> int:
    """How much work takes about so many seconds; `run` does an amount and returns the seconds it took."""
    amount = first
    # Twice each time: a single slow moment of the machine would leave too little work to measure.
    while (took := min(run(amount), run(amount))) < seconds / 2 and amount < most:
        amount = min(most, round(amount * min(10.0, max(1.5, seconds / took))))
    return amount


def timed(work: Callable[[], object]) -> float:
    """The seconds something takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def growth_exponent(sizes: Iterable[float], totals: Iterable[float]) -> float:
    """The slope of log(total cost) over log(size): 1 where cost is linear, 0 where it does not depend on the size."""
    import numpy as np

    slope = np.polyfit(np.log(list(sizes)), np.log(list(totals)), 1)[0]
    return float(slope)
