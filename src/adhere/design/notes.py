"""What an evaluation says of designs whose looks make no difference."""

from __future__ import annotations

from collections.abc import Sequence

from adhere.design.characteristics import Characteristics
from adhere.trial.looks import GO_ON


def notes_on(results: Sequence[Characteristics]) -> tuple[str, ...]:
    """Sentences on one design, from what it came to in each scenario.

    A design that always stops at its first look, or never before its last, has looks in vain.
    """
    design = results[0].design
    if design.stopping is None or results[0].columns.n_looks == 1:
        return ()
    go_on_after = [
        [one.moments.mean[one.columns.where("stopped", look, GO_ON)] for look in range(one.columns.n_looks - 1)]
        for one in results
    ]
    if all(shares[0] == 0.0 for shares in go_on_after):
        return (f"{design.name}: every trial stopped at its first look, in every scenario",)
    if all(shares[-1] == 1.0 for shares in go_on_after):
        return (f"{design.name}: no trial stopped before its end, in any scenario",)
    return ()
