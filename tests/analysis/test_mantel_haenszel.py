import itertools
import math

import numpy as np
import pytest
from scipy.stats import binom
from statsmodels.stats.contingency_tables import StratifiedTable

from adhere.analysis.cells import sums
from adhere.analysis.estimates import ConfidenceSet
from adhere.analysis.fixed_sample.two_arms import compare_groups, compare_strata
from adhere.intervals import RewardSums, normal_quantile


def _group(n: int, successes: float) -> RewardSums:
    return sums(n, float(successes), float(successes))


def _half_width(found: ConfidenceSet) -> float:
    return (found.high - found.low) / 2


def test_university_group_diabetes_program() -> None:
    """Deaths on tolbutamide and placebo by age: Rothman and Greenland (1998), Modern Epidemiology, Table 15-1."""
    found = compare_strata([(_group(106, 8), _group(120, 5)), (_group(98, 22), _group(85, 16))])
    assert found.difference.value == pytest.approx(0.035, abs=5e-4)
    assert found.ratio.value == pytest.approx(1.33, abs=5e-3)
    assert (found.ratio.sets[0].low, found.ratio.sets[0].high) == pytest.approx((0.80, 2.20), abs=5e-3)


def test_ratio_and_p_value_are_those_of_statsmodels() -> None:
    rng = np.random.default_rng(2)
    tables = [rng.integers(1, 30, (2, 2)) for _ in range(5)]
    found = compare_strata([(_group(int(t[0].sum()), t[0, 0]), _group(int(t[1].sum()), t[1, 0])) for t in tables])
    theirs = StratifiedTable([table.astype(float) for table in tables])
    assert found.ratio.value == pytest.approx(theirs.riskratio_pooled, rel=1e-8)
    assert found.p_value == pytest.approx(theirs.test_null_odds(correction=False).pvalue, rel=1e-8)


def _numerator(a: int, n: int, b: int, m: int, difference: float) -> float:
    """What Sato sums over strata: a of n treated and b of m controls succeeded."""
    sato = (n * n * b - m * m * a + n * m * (m - n) / 2) / (n + m) ** 2
    return difference * sato + (a * (m - b) + b * (n - a)) / (2 * (n + m))


def test_satos_variance_is_unbiased_where_the_difference_is_common_and_is_ours() -> None:
    """Over all tables of a small stratum, the mean of the numerator is the variance of the weighted difference."""
    n, m, p, q = 3, 2, 0.5, 0.3
    mean = sum(
        binom.pmf(a, n, p) * binom.pmf(b, m, q) * _numerator(a, n, b, m, p - q)
        for a, b in itertools.product(range(n + 1), range(m + 1))
    )
    assert mean == pytest.approx((m * m * n * p * (1 - p) + n * n * m * q * (1 - q)) / (n + m) ** 2, rel=1e-12)
    counts = [(9, 30, 3, 20), (11, 20, 13, 40)]
    found = compare_strata([(_group(n, a), _group(m, b)) for a, n, b, m in counts]).difference
    assert found.value is not None
    error = math.sqrt(sum(_numerator(*one, found.value) for one in counts)) / sum(
        n * m / (n + m) for _, n, _, m in counts
    )
    assert _half_width(found.sets[0]) == pytest.approx(normal_quantile(0.95) * error, rel=1e-12)


def test_one_stratum_has_the_variances_of_the_arms() -> None:
    found = compare_strata([(_group(50, 20), _group(80, 16))]).difference
    error = math.sqrt(0.4 * 0.6 / 50 + 0.2 * 0.8 / 80)
    assert _half_width(found.sets[0]) == pytest.approx(normal_quantile(0.95) * error, rel=1e-12)


def test_outcomes_between_0_and_1_are_weighted_the_same_way() -> None:
    rng = np.random.default_rng(4)
    data = [(rng.random(n), rng.random(m)) for n, m in ((12, 7), (30, 30), (1, 4))]
    strata = [tuple(sums(len(y), y.sum(), (y * y).sum()) for y in pair) for pair in data]
    found = compare_strata(strata)  # type: ignore[arg-type]
    weight = np.array([len(y) * len(x) / (len(y) + len(x)) for y, x in data])
    weight /= weight.sum()
    expected = sum(w * (y.mean() - x.mean()) for w, (y, x) in zip(weight, data, strict=True))
    assert found.difference.value == pytest.approx(expected, rel=1e-10)
    assert found.ratio.value == pytest.approx(
        sum(w * y.mean() for w, (y, _) in zip(weight, data, strict=True))
        / sum(w * x.mean() for w, (_, x) in zip(weight, data, strict=True))
    )
    assert expected in found.difference.sets[0]


def test_strata_that_cannot_say_are_said() -> None:
    nothing = compare_strata([(_group(5, 2), RewardSums())])
    assert nothing.difference.value is None
    assert nothing.difference.reason == "no stratum has known outcomes in both arms"
    zeros = compare_strata([(_group(5, 0), _group(6, 0)), (_group(7, 0), _group(3, 0))])
    assert (zeros.difference.value, zeros.difference.sets, zeros.p_value) == (0.0, (), 1.0)
    assert "see the unstratified comparison" in zeros.difference.reason
    assert zeros.ratio.value is None
    assert compare_groups(_group(12, 0), _group(9, 0)).difference.sets  # which has an interval
