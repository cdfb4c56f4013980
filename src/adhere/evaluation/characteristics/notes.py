"""What an evaluation says of a design beside its numbers."""

from __future__ import annotations

from collections.abc import Sequence

from adhere.design.checks import check
from adhere.design.exact_probabilities import why_not_exact
from adhere.evaluation.characteristics.characteristics import Characteristics
from adhere.looks.judge import GO_ON


def notes_on(results: Sequence[Characteristics]) -> tuple[str, ...]:
    """Sentences on one design: what its check warns of, whether looks were in vain, and what is left out."""
    design = results[0].design
    warnings = check(design)
    if not any(one.startswith("stopping") for one in warnings):  # which says why
        warnings += _looks_in_vain(results)
    if design.estimands and (reason := why_not_exact(design)):
        warnings += (f"any-time valid estimates are left out: {reason}",)
    return tuple(f"{design.name}: {one}" for one in warnings)


def _looks_in_vain(results: Sequence[Characteristics]) -> tuple[str, ...]:
    """Whether trials always stopped at the first look, or never before the last."""
    n_before = results[0].columns.n_looks - 1
    if not n_before:
        return ()
    shares = [
        [one.moments.mean[one.columns.where("stopped", look, GO_ON)] for look in (0, n_before - 1)] for one in results
    ]
    if all(first == 0.0 for first, _ in shares):
        return ("every trial stopped at its first look, in every scenario",)
    if all(last == 1.0 for _, last in shares):
        return ("no trial stopped before its end, in any scenario",)
    return ()
