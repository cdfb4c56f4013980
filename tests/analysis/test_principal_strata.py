import numpy as np
import pytest
from scipy.stats import binomtest

from adhere.analysis.bounding.observed_cells import cell_limits
from adhere.analysis.estimates import Validity, View
from adhere.analysis.fixed_sample.effects import effects
from adhere.analysis.fixed_sample.principal_strata import principal_strata
from adhere.analysis.records import NOT_KNOWN, TOOK_NOTHING
from adhere.intervals import wilson

from .made_records import MISSING, made


def test_shares_and_means_follow_from_the_cells() -> None:
    rows = [(0, 0, 1.0, 40), (0, 0, 0.0, 40), (0, 1, 1.0, 15), (0, 1, 0.0, 5)]
    rows += [(1, 1, 1.0, 50), (1, 1, 0.0, 20), (1, 0, 1.0, 6), (1, TOOK_NOTHING, 0.0, 24)]
    rows += [(1, NOT_KNOWN, 1.0, 1000), (0, 0, MISSING, 100)]  # the latter say what was taken, not how it went
    found = principal_strata(made(rows))
    shares = {name: share.value for name, share in found.shares.items()}
    assert shares == pytest.approx({"always-takers": 0.1, "never-takers": 0.3, "compliers": 0.6})
    always = found.shares["always-takers"].sets[0]
    assert (always.low, always.high) == pytest.approx(wilson(20, 200))
    assert found.means["always-takers"].value == pytest.approx(0.75)
    assert found.means["never-takers"].value == pytest.approx(0.2)
    never, exact = found.means["never-takers"].sets[0], binomtest(6, 30).proportion_ci(method="exact")
    assert (never.low, never.high) == pytest.approx((exact.low, exact.high))
    # Of the same patients as the shares: compliers are the rest of Y·D and of Y·(1 − D).
    assert found.means["compliers, treated"].value == pytest.approx((0.7 * 50 / 70 - 0.1 * 0.75) / 0.6)
    assert found.means["compliers, untreated"].value == pytest.approx((0.9 * 0.5 - 0.3 * 0.2) / 0.6)
    for mean in (*found.shares.values(), *found.means.values()):
        assert mean.value is not None
        assert mean.value in mean.sets[0]


def test_defiers_are_said_to_refute_monotonicity() -> None:
    found = principal_strata(made([(0, 1, 1.0, 90), (0, 0, 1.0, 10), (1, 0, 0.0, 80), (1, 1, 0.0, 20)]))
    assert found.shares["compliers"].value is None
    assert found.note.startswith("The data refute that there are no defiers: 90.0% of those assigned old took new")
    assert found.means["compliers, treated"].value is None
    chance = principal_strata(made([(0, 1, 1.0, 6), (0, 0, 1.0, 4), (1, 0, 0.0, 5), (1, 1, 0.0, 5)]))
    assert "by chance, or because there are defiers" in chance.note


def test_without_two_arms_or_reports_there_are_none() -> None:
    assert "two arms only" in principal_strata(made([(0, 0, 1.0, 1)], "abc")).reason
    nothing = principal_strata(made([(0, 0, 1.0, 5), (1, NOT_KNOWN, 1.0, 5)]))
    assert nothing.reason == "what was taken is known of nobody assigned new"
    assert not nothing.shares


def test_constant_outcomes_have_means_without_false_precision() -> None:
    rows = [(0, 0, 1.0, 45), (0, 1, 1.0, 5), (1, 1, 1.0, 40), (1, 0, 1.0, 10)]
    found = principal_strata(made(rows))
    for who in ("treated", "untreated"):
        mean = found.means[f"compliers, {who}"]
        assert mean.value == pytest.approx(1.0)
        assert mean.sets[0].low < 0.98
    effect = next(one for one in effects(made(rows)).comparisons if one.view is View.COMPLIERS)
    assert (effect.difference.value, effect.ratio.value) == pytest.approx((0.0, 1.0))
    assert effect.difference.sets[0].high > 0.02


def test_non_compliance_on_one_side_leaves_compliers_in_sight() -> None:
    found = principal_strata(made([(0, 0, 1.0, 45), (0, 0, 0.0, 5), (1, 1, 1.0, 40), (1, 0, 0.0, 10)]))
    treated = found.means["compliers, treated"].sets[0]
    assert (treated.low, treated.high) == pytest.approx(wilson(40, 40))
    assert found.means["compliers, untreated"].sets[0].method == "Fieller"
    assert found.means["always-takers"].reason == "no outcome of always-takers is known"


def test_under_adaptive_allocation_limits_come_from_those_on_cells() -> None:
    rows = [(0, 0, 1.0, 150), (0, 0, 0.0, 70), (0, 1, 1.0, 20), (0, 1, 0.0, 10)]
    rows += [(1, 1, 1.0, 260), (1, 1, 0.0, 60), (1, 0, 1.0, 25), (1, 0, 0.0, 30)]
    records = made(rows)
    fixed, found = principal_strata(records), principal_strata(records, adaptive=True)
    for one, other in ((fixed.shares, found.shares), (fixed.means, found.means)):
        for name, quantity in one.items():
            limits = other[name].sets[0]
            assert limits.validity is Validity.ANY_TIME
            assert other[name].value == quantity.value
            assert limits.low < quantity.sets[0].low
            assert quantity.sets[0].high < limits.high
    # Whatever cells within their own limits give, by the definition of the compliers' means, lies in the set.
    cells = {(z, d, y): n for z, d, y, n in rows}
    sizes = [sum(n for (z, _, _), n in cells.items() if z == arm) for arm in (0, 1)]
    ends = {}
    for (z, d, y), n in cells.items():
        low, high = cell_limits(np.array([float(n)]), np.array([float(sizes[z])]), 0.95, 4, any_time=True)
        ends[z, d, y] = [low[0], high[0]]
    drawn = np.random.default_rng(1)
    for took, name in ((1, "compliers, treated"), (0, "compliers, untreated")):
        means = []
        for _ in range(300):
            p = {cell: drawn.choice([*limits, drawn.uniform(*limits)]) for cell, limits in ends.items()}
            a, b = (p[took, took, y] - p[1 - took, took, y] for y in (1.0, 0.0))
            if a >= 0.0 <= b and a + b > 0.0:
                means.append(a / (a + b))
        limits = found.means[name].sets[0]
        assert limits.low <= min(means)
        assert max(means) <= limits.high
        assert max(means) - min(means) > 0.8 * (limits.high - limits.low)
