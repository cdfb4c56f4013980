import math

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from statsmodels.stats import proportion

from adhere.analysis.fixed_sample.intervals import TwoProportions, score_difference, score_p_value, score_ratio
from adhere.intervals import normal_quantile

# Newcombe (1998), Statistics in Medicine 17, Table II: examples (a) to (h), method 6.
NEWCOMBE = {
    (56, 70, 48, 80): (0.0528, 0.3382),
    (9, 10, 3, 10): (0.1700, 0.8406),
    (6, 7, 2, 7): (0.0342, 0.8534),
    (5, 56, 0, 29): (-0.0326, 0.1933),
    (0, 10, 0, 20): (-0.1658, 0.2844),
    (0, 10, 0, 10): (-0.2879, 0.2879),
    (10, 10, 0, 20): (0.7156, 1.0000),
    (10, 10, 0, 10): (0.6636, 1.0000),
}
TABLES = [(56, 70, 48, 80), (3, 41, 9, 37), (120, 200, 130, 190), (1, 60, 4, 50), (30, 30, 20, 25)]


@pytest.mark.parametrize("table", NEWCOMBE)
def test_difference_has_the_ends_of_newcombes_examples(table: tuple[int, int, int, int]) -> None:
    assert score_difference(TwoProportions(*table)) == pytest.approx(NEWCOMBE[table], abs=5e-5)


@pytest.mark.parametrize("table", TABLES)
def test_ends_of_the_difference_are_where_the_score_test_of_the_likeliest_pair_turns(
    table: tuple[int, int, int, int],
) -> None:
    """statsmodels has a wrong coefficient here (its issue 10269): the likelihood itself is searched instead."""
    x, n, y, m = table

    def statistic(difference: float) -> float:
        def less_likely(p: float) -> float:
            q = p - difference
            terms = ((x, p), (n - x, 1 - p), (y, q), (m - y, 1 - q))
            return -sum(times * math.log(share) for times, share in terms if times)

        bounds = max(0.0, difference) + 1e-12, min(1.0, 1.0 + difference) - 1e-12
        p = minimize_scalar(less_likely, bounds=bounds, method="bounded", options={"xatol": 1e-13}).x
        q = p - difference
        variance = (p * (1 - p) / n + q * (1 - q) / m) * (n + m) / (n + m - 1)
        return float(x / n - y / m - difference) / math.sqrt(variance)

    low, high = score_difference(TwoProportions(*table))
    z = normal_quantile(0.95)
    assert (statistic(low), statistic(high)) == pytest.approx((z, -z), abs=2e-6)  # the search is that good


@pytest.mark.parametrize(("table", "level"), [(table, level) for table in TABLES[:4] for level in (0.95, 0.8)])
def test_ratio_and_p_value_are_those_of_statsmodels(table: tuple[int, int, int, int], level: float) -> None:
    pair = TwoProportions(*table)
    expected = proportion.confint_proportions_2indep(*table, compare="ratio", method="score", alpha=1 - level)
    assert score_ratio(pair, level) == pytest.approx(expected, rel=1e-8)
    test = proportion.test_proportions_2indep(*table, compare="diff", method="score")
    assert score_p_value(pair) == pytest.approx(test.pvalue, rel=1e-10)


def test_intervals_and_p_value_agree_on_whether_arms_differ_and_mirror_each_other() -> None:
    rng = np.random.default_rng(5)
    for n, m in rng.integers(1, 60, (150, 2)).tolist():
        x, y = int(rng.integers(0, n + 1)), int(rng.integers(0, m + 1))
        pair, mirrored = TwoProportions(x, n, y, m), TwoProportions(y, m, x, n)
        low, high = score_difference(pair)
        assert -1.0 <= low <= pair.difference <= high <= 1.0
        assert score_difference(mirrored) == pytest.approx((-high, -low), abs=1e-9)
        differs = score_p_value(pair) < 0.05
        assert (not low <= 0.0 <= high) == differs
        if x or y:
            first, last = score_ratio(pair)
            assert (not first <= 1.0 <= last) == differs
            inverse = tuple(1.0 / end if end else math.inf for end in (last, first))
            assert score_ratio(mirrored) == pytest.approx(inverse, rel=1e-8)
