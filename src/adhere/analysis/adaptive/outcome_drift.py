"""Test for drift of outcomes over time. Some limits assume that late patients are like early patients."""

from typing import Final

import numpy as np

from adhere.analysis.records import Records

_DEGREE: Final = 3  # degree of the polynomial in time
_LEVEL: Final = 0.01
_FEWEST: Final = 20  # known outcomes needed for the test


def outcomes_drifted(records: Records) -> bool:
    """Return whether outcomes changed over time, given the arm assigned, beyond chance (p < 0.01)."""
    p = drift_p_value(records)
    return p is not None and p < _LEVEL


def drift_p_value(records: Records) -> float | None:
    """Return the p-value of "no drift", or None if there are too few outcomes.

    Without drift, outcomes are unrelated to a cubic in time, given the arm assigned and the stratum. This is a score
    test with the variance of permutations within arm and stratum. Under Thompson sampling without drift, p was below
    0.01 in 0.3% to 1.5% of simulated trials.

    >>> chosen, late = np.arange(400) % 2, np.arange(400) >= 200
    >>> steady, rising = np.arange(400) // 2 % 2 * 1.0, (np.arange(400) * 7 % 10 < np.where(late, 8, 3)) * 1.0
    >>> made = Records("", "", ("old", "new"), chosen, chosen, steady)
    >>> from dataclasses import replace
    >>> drift_p_value(made) > 0.5, drift_p_value(replace(made, reward=rising)) < 1e-6
    (True, True)
    """
    from scipy.special import chdtrc

    known = np.flatnonzero(records.has_reward)
    if len(known) < _FEWEST:
        return None
    time = known if records.batch is None else records.batch[known]
    span = float(np.ptp(time)) or 1.0
    since_start = (time - time.min()).astype(np.float64)
    basis = np.polynomial.legendre.legvander(2.0 * since_start / span - 1.0, _DEGREE)[:, 1:]  # degrees 1 to 3
    group = records.chosen[known].astype(np.int64)
    if records.stratum is not None:
        group = group + records.n_arms * (records.stratum[known].astype(np.int64) + 1)
    score, variance = np.zeros(_DEGREE), np.zeros((_DEGREE, _DEGREE))
    for one in np.unique(group):
        own = group == one
        if own.sum() > 1:
            off = basis[own] - basis[own].mean(axis=0)
            outcome = records.reward[known[own]]
            outcome = outcome - outcome.mean()
            score += off.T @ outcome
            variance += off.T @ off * (outcome @ outcome) / (own.sum() - 1)
    inverse = np.linalg.pinv(variance, hermitian=True)
    n_free = int(np.linalg.matrix_rank(variance, hermitian=True))
    return float(chdtrc(n_free, score @ inverse @ score)) if n_free else None
