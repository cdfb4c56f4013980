"""What a policy is called, whether it is compiled or a plain object."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from adhere.policies import Policy


class PlainPolicy(Protocol):
    """A plain Python object that can be simulated: `choose` gives the number of an arm, `update` hears of a patient.

    `choose` gets a NumPy generator, or nothing; `update` gets the arm chosen, the arm taken and the reward.
    """

    @property
    def choose(self) -> Callable[..., Any]:
        """Pick an arm."""

    @property
    def update(self) -> Callable[[int, int, float], Any]:
        """Learn from a patient."""


def name_of(policy: object) -> str:
    """What a result calls a policy."""
    return str(policy) if isinstance(policy, Policy) else str(getattr(policy, "name", type(policy).__name__))
