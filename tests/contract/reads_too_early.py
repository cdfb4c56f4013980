"""A policy that reads from its memo what nothing in its own run has written, and chooses by it."""

from __future__ import annotations

from typing import Any

from adhere.policies import Learner, Memo, Number, choose, implements, learn, policy


class Seen(Memo):
    """A count of patients, which `remember` never sets."""

    patients = Number()


@policy("reads-too-early", memo=Seen)
class ReadsTooEarly(Learner):
    """The second arm, once the memo has counted five patients."""


@implements(choose, ReadsTooEarly)
def choose_by_memo(rule: Any, state: Any, memo: Any, weight: float, rng: Any) -> int:
    """Choose by the count."""
    return 1 if memo.patients >= 5.0 else 0


@implements(learn, ReadsTooEarly)
def count_in_memo(rule: Any, state: Any, memo: Any, arm: Any, reward: float, weight: float, rng: Any) -> None:
    """Count the patient."""
    memo.patients += 1.0
