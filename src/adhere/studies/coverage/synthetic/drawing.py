"""Tables of synthetic trials, drawn in plain NumPy: nothing here is adhere's own simulation."""

from __future__ import annotations

import math
import zlib

import numpy as np
import numpy.typing as npt
import polars

from adhere.studies.coverage.synthetic.patients import Trial

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def draw_table(trial: Trial, seed: int, replication: int) -> polars.DataFrame:
    """Draw one trial as the table that its data manager would hand over; the same numbers for the same seed."""
    rng = np.random.default_rng([seed, zlib.crc32(trial.title.encode()), replication])
    n, kinds = trial.n_patients, trial.kinds
    kind = rng.choice(len(kinds), n, p=[one.share for one in kinds])
    stratum = np.array([trial.strata.index(one.stratum) for one in kinds])[kind]
    takes = np.array([one.takes for one in kinds])[kind]
    success = np.array([one.success for one in kinds])[kind]
    success = success + trial.drift * np.linspace(0.0, 1.0, n)[:, None]
    gains = (rng.random(n)[:, None] < success).astype(np.float64)
    if trial.allocation.learns:
        chosen, probabilities = _learned(trial, rng, stratum, np.take_along_axis(gains, takes, axis=1))
    else:
        probabilities = np.array([trial.allocation.fixed[name] for name in trial.strata])[stratum]
        chosen = (rng.random(n)[:, None] > np.cumsum(probabilities, axis=1)[:, :-1]).sum(axis=1)
    patients = np.arange(n)
    actual = takes[patients, chosen]
    lost = np.array([one.lost or (0.0,) * len(trial.arms) for one in kinds])[kind, actual]
    reward = np.where(rng.random(n) < lost, np.nan, gains[patients, actual])
    names = np.array(trial.arms)
    columns = {"time": patients, "chosen": names[chosen], "actual": names[actual]}
    table = polars.DataFrame(columns).with_columns(polars.Series("reward", reward, nan_to_null=True))
    if len(trial.strata) > 1:
        table = table.with_columns(stratum=polars.Series(np.array(trial.strata)[stratum]))
    if trial.logged:
        table = table.with_columns(
            **{f"propensity_{arm}": polars.Series(probabilities[:, i]) for i, arm in enumerate(trial.arms)}
        )
    return table


def _learned(trial: Trial, rng: np.random.Generator, stratum: Ints, gains: Floats) -> tuple[Ints, Floats]:
    """Allocate two arms by Thompson sampling on the arm assigned, each posterior taken as normal.

    The probability that is logged is the one by which the arm is drawn, so that it is exact.
    """
    by_stratum = trial.allocation.learns == "by stratum"
    counts = [[[1.0, 1.0], [1.0, 1.0]] for _ in range(len(trial.strata) if by_stratum else 1)]
    floor, draws = trial.allocation.floor, rng.random(len(gains)).tolist()
    chosen, treated = [], []
    for i, draw in enumerate(draws):
        here = counts[int(stratum[i]) if by_stratum else 0]
        probability = min(max(_better(here[1], here[0]), floor), 1.0 - floor)
        arm = int(draw < probability)
        here[arm][0 if gains[i, arm] else 1] += 1.0
        chosen.append(arm)
        treated.append(probability)
    second = np.array(treated)
    return np.array(chosen), np.column_stack([1.0 - second, second])


def _better(one: list[float], other: list[float]) -> float:
    """Probability that one Beta variable exceeds another, each taken as normal."""
    (mean, variance), (other_mean, other_variance) = _moments(*one), _moments(*other)
    return 0.5 * math.erfc((other_mean - mean) / math.sqrt(2.0 * (variance + other_variance)))


def _moments(successes: float, failures: float) -> tuple[float, float]:
    n = successes + failures
    return successes / n, successes * failures / (n * n * (n + 1.0))
