"""Do the data refute that what people were told mattered only through what they took?"""

from __future__ import annotations

from dataclasses import dataclass

from adhere.analysis.bounding.observed_cells import ObservedCells


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


def instrumental_inequality(cells: ObservedCells, distance: float) -> InstrumentalInequality:
    """The test by the observed shares and how far they are from ones that a population fits.

    References
    ----------
    Pearl (1995), Uncertainty in Artificial Intelligence 11.

    """
    if len(cells.told) < 2:
        untold = "Fewer than two arms were assigned: whether assignment mattered other than through what was taken "
        return InstrumentalInequality(None, None, None, untold + "cannot be tested.")
    shares = cells.shares.low[:, : 2 * cells.n_things].max(axis=0)
    excess = float(shares.reshape(-1, 2).sum(axis=1).max()) - 1.0
    refuted = distance > 1.0
    if refuted:
        sentence = (
            "The data refute that assignment mattered only through what was taken: what people were told changed "
            "outcomes in another way, or people were not assigned at random, or what they took is misreported. "
            "Neither the bounds nor the complier effects hold."
        )
    elif distance > 0.0:
        sentence = (
            "The observed shares contradict that assignment mattered only through what was taken, but by no more "
            "than chance explains."
        )
    else:
        sentence = (
            "The data do not refute that assignment mattered only through what was taken. That is no proof: most "
            "violations leave no trace in such data."
        )
    return InstrumentalInequality(refuted, excess, distance, sentence)
