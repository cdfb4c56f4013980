"""What every way of running a policy offers: compiled code, plain Python, or a GPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from adhere.errors import InputError
from adhere.policies import Policy
from adhere.populations import PatientTables
from adhere.simulation.kernel import Tallies
from adhere.simulation.plan import Integers


class PolicyRunner(Protocol):
    """Runs one policy on one population."""

    resolved: str
    deciders: tuple[str, ...]

    def prepare(self, announce: Callable[[str], None]) -> None:
        """Do what must be done once, before the first block."""

    def start(
        self, seed: int, first_run: int, tables: PatientTables, tallies: Tallies, done: Integers, stop: Integers
    ) -> Callable[[], None]:
        """Start to fill the tallies of consecutive runs; what is returned waits until they are filled.

        `done[0]` counts patients; a non-zero `stop[0]` ends it.
        """


def nothing_to_wait_for() -> None:
    """What `start` returns when all is done."""


def wrong_arm(policy: str, arm: object, n_arms: int) -> InputError:
    """What to say of a policy that picks an arm that does not exist."""
    return InputError(f"arm chosen by {policy}", arm, f"a whole number from 0 to {n_arms - 1}")


def name_of(policy: object) -> str:
    """What a result calls a policy."""
    return str(policy) if isinstance(policy, Policy) else str(getattr(policy, "name", type(policy).__name__))
