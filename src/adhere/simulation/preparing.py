"""Make many runners ready, and say how many are left to compile."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol


class Preparable(Protocol):
    """Something that looks things up in tables and is compiled."""

    def to_compile(self) -> object:
        """What is left to compile, the same for all that share it; None if nothing is."""

    def load_tables(self, announce: Callable[[str], None]) -> None:
        """Load or compute what is looked things up in."""

    def prepare(self, announce: Callable[[str], None]) -> None:
        """Compile, or load what was compiled before."""


def prepare_all(every: Sequence[Preparable], announce: Callable[[str], None]) -> None:
    """Load tables, compile what is not compiled yet, and say of each how many there are."""
    for runner in every:
        runner.load_tables(announce)
    said: list[str] = []
    n_in_all = 0

    def number(message: str) -> None:
        nonlocal n_in_all
        if not said:  # looked up only now: where all is compiled, a start should cost nothing
            n_in_all = len({runner.to_compile() for runner in every} - {None})
        said.append(message)
        announce(f"{message} ({len(said)} of {max(n_in_all, len(said))}, then kept on disk)…")

    for runner in every:
        runner.prepare(number)
