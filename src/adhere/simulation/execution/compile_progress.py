"""Make runners ready, and say how many are left to compile."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from adhere.compilation import classes_of
from adhere.compilation.storage import cache_folder


class Preparable(Protocol):
    """Something that looks things up in tables and is compiled."""

    def to_compile(self) -> object:
        """What is left to compile, the same for all that share it; None if nothing is."""

    def load_tables(self, announce: Callable[[str], None]) -> None:
        """Load or compute what is looked things up in."""

    def prepare(self, announce: Callable[[str], None]) -> None:
        """Compile, or load what was compiled before."""


def compiled_loop(
    loop: Any, example: Any, rule: Any, policy: str, announcement: str, announce: Callable[[str], None]
) -> Any:
    """A loop compiled for arguments like these, or loaded as it was compiled before; a compilation is announced."""
    if not loop.ready(*example):
        if cache_folder(frozenset(classes_of(rule)), loop.module) is None:
            reason = "its code is not in a file of its own, or no cache folder can be written"
            warnings.warn(f"{policy} is compiled anew each time: {reason}", stacklevel=3)
        announce(announcement)
    return loop.compiled(*example)


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
