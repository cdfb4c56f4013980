"""Findings of a policy's check: one line for each promise."""

from dataclasses import dataclass
from typing import NamedTuple

FUNCTIONS = "has the functions it needs"
RUNS = "runs"
INDICES = "indices are in range"
ARMS = "arms are in range"
STATE = "choosing leaves the state alone"
MEMO = "the memo is written before it is read"
FINITE = "numbers stay finite"
REPEATABLE = "the same seed gives the same arms"
LATE = "late feedback is learned the same, once"
PROBABILITIES = "probabilities match the frequencies of arms"
TIES = "ties favour no arm"
HIERARCHY = "works inside a hierarchy"
COMPILES = "compiles"
TRIAL = "a live trial picks the arms of the simulation"
GPU = "runs on a GPU"
OF_A_GAME = (RUNS, INDICES, ARMS, STATE, MEMO, FINITE)  # breaking one of them stops a game
_LATER = (REPEATABLE, LATE, PROBABILITIES, TIES, HIERARCHY, COMPILES, TRIAL, GPU)
PROMISES = (FUNCTIONS, *OF_A_GAME, *_LATER)


class Broken(Exception):  # noqa: N818  (the promise is, not the program)
    """Exception for a promise that is not kept. The message contains the place and what to do."""

    def __init__(self, promise: str, sentence: str) -> None:
        self.promise, self.sentence = promise, sentence
        super().__init__(promise, sentence)


class Finding(NamedTuple):
    """Whether a promise is kept (None: neither kept nor broken), and a note."""

    promise: str
    kept: bool | None
    note: str = ""

    def __str__(self) -> str:
        mark = {True: "✓", False: "✗", None: "–"}[self.kept]
        return f"{mark} {self.promise}{': ' if self.note else ''}{self.note}"


@dataclass(frozen=True)
class PolicyReport:
    """The findings about one policy."""

    policy: str
    findings: tuple[Finding, ...]

    @property
    def passed(self) -> bool:
        """Whether no promise is broken."""
        return all(finding.kept is not False for finding in self.findings)

    def __str__(self) -> str:
        return "\n".join([self.policy, *(f"  {finding}" for finding in self.findings)])
