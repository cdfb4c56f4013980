"""Do the data refute that what people were told mattered only through what they took?"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class InstrumentalInequality:
    """The test of the assumption behind bounds and complier effects; that it is not refuted does not prove it.

    Parameters
    ----------
    refuted
        Whether no population fits any cell probabilities within their simultaneous limits; None where nothing can
        be tested.
    excess
        By how much the observed shares exceed Pearl's inequality, max over d of Σ_y max_z p(y, d | z) ≤ 1; negative
        where they keep it.
    distance
        Which part of the way from the observed shares to their limits one must go to find shares that some
        population fits: 0 where the observed ones do, above 1 where the data refute the assumption.
    sentence
        What that means.

    """

    refuted: bool | None
    excess: float | None
    distance: float | None
    sentence: str
