"""What lists of trials say of each, kept up to date event by event, so that nobody goes through a log for it."""

from __future__ import annotations

import msgspec

from adhere.trial.domain.history import History


class Counts(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Counts of recommendations: reports awaited, arm taken known, recommended arm taken, entered in error."""

    waiting: int = 0
    known: int = 0
    followed: int = 0
    in_error: int = 0

    @property
    def compliance(self) -> float | None:
        """The share that took the arm recommended, of those of whom it is known what they took."""
        return self.followed / self.known if self.known else None


def evolve_counts(counts: Counts, before: History | None, after: History) -> Counts:
    """After an event about a recommendation."""
    waiting = after.is_open - (before is not None and before.is_open)
    taken, was_taken = after.actual, None if before is None else before.actual
    in_error = after.in_error - (before is not None and before.in_error)
    if taken is was_taken and not waiting and not in_error:
        return counts
    known = (taken is not None) - (was_taken is not None)
    followed = (taken is not None and taken.value == after.chosen) - (
        was_taken is not None and was_taken.value == after.chosen
    )
    return Counts(
        counts.waiting + waiting, counts.known + known, counts.followed + followed, counts.in_error + in_error
    )
