import math
import warnings
from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest

from adhere.analysis.estimates import Comparison, Shape, Validity, View
from adhere.analysis.fixed_sample.effects import effects
from adhere.analysis.fixed_sample.principal_strata import principal_strata
from adhere.analysis.records import NOT_KNOWN, TOOK_NOTHING, Records
from adhere.intervals import normal_quantile

from .made_records import MISSING, made
from .test_stratified_compliers import complier_effects, stratified_trial

# Vitamin A and infants' survival in Sumatra: Sommer and Zeger (1991), Statistics in Medicine 10, Table I.
VITAMIN_A = [
    (0, 0, 0.0, 74),
    (0, 0, 1.0, 11_514),
    (1, 0, 0.0, 34),
    (1, 0, 1.0, 2_385),
    (1, 1, 0.0, 12),
    (1, 1, 1.0, 9_663),
]


def compliers(records: Records, level: float = 0.95) -> Comparison:
    return next(one for one in effects(records, level).comparisons if one.view is View.COMPLIERS)


def trial(seed: int = 1, n: int = 400, always: float = 0.1, takes: float = 0.5, binary: bool = True) -> Records:
    """A trial with non-compliance on both sides whose outcome depends on who complies."""
    rng = np.random.default_rng(seed)
    chosen = rng.integers(0, 2, n)
    kind = rng.random(n)
    actual = ((kind < always) | ((chosen == 1) & (kind < always + takes))).astype(np.int64)
    mean = 0.3 + 0.25 * actual + 0.2 * (kind < always)
    reward = (rng.random(n) < mean).astype(float) if binary else np.clip(mean + 0.2 * rng.standard_normal(n), 0, 1)
    return Records("trial", "a test", ("old", "new"), chosen, actual, reward)


def test_vitamin_a_has_the_published_figures_of_every_view() -> None:
    """Imbens and Rubin (2015), Causal Inference, chapter 23: 0.0026, compliers 0.0032 (0.0012), as-treated 0.0065."""
    records = made(VITAMIN_A, ("none", "vitamin A"))
    values = {one.view: one.difference.value for one in effects(records).comparisons}
    assert [round(value or 0.0, 4) for value in values.values()] == [0.0026, 0.0032, 0.0065, 0.0051]
    delta = compliers(records).difference.sets[1]
    assert (delta.high - delta.low) / 2 / normal_quantile(0.95) == pytest.approx(0.0012, abs=5e-5)
    strata = principal_strata(records)
    deaths = {name: 1000 * (1 - (mean.value or 0.0)) for name, mean in strata.means.items() if mean.value is not None}
    # Sommer and Zeger: 1.2 deaths per 1000 compliers given vitamin A, 4.5 without; 14.1 among those never reached.
    assert deaths["compliers, treated"] == pytest.approx(1.2, abs=0.05)
    assert deaths["compliers, untreated"] == pytest.approx(4.5, abs=0.05)
    assert deaths["never-takers"] == pytest.approx(14.1, abs=0.05)
    assert strata.shares["compliers"].value == pytest.approx(0.80, abs=0.001)


@pytest.mark.parametrize("binary", [True, False])
def test_estimate_and_delta_interval_are_two_stage_least_squares(binary: bool) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # linearmodels' own
        from linearmodels.iv import IV2SLS

    records = trial(binary=binary)
    frame = pd.DataFrame({"y": records.reward, "d": records.actual, "z": records.chosen, "one": 1.0})
    model = IV2SLS(frame["y"], frame[["one"]], frame[["d"]], frame[["z"]])
    found = compliers(records, 0.9).difference
    for kind in ("unadjusted", "robust"):
        fit = model.fit(cov_type=kind, debiased=False)
        assert found.value == pytest.approx(fit.params["d"], rel=1e-8)
    half = normal_quantile(0.9) * fit.std_errors["d"]
    delta = found.sets[1]
    assert (delta.low, delta.high) == pytest.approx((fit.params["d"] - half, fit.params["d"] + half), rel=1e-8)
    assert delta.validity is Validity.APPROXIMATE


@pytest.mark.parametrize("binary", [True, False])
def test_estimate_and_delta_interval_are_two_stage_least_squares_with_strata(binary: bool) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # linearmodels' own
        from linearmodels.iv import IV2SLS

    records = stratified_trial(binary=binary)
    frame = pd.DataFrame({"y": records.reward, "d": records.actual, "z": records.chosen})
    constants = pd.get_dummies(pd.Series(records.stratum), dtype=float)
    fit = IV2SLS(frame["y"], constants, frame[["d"]], frame[["z"]]).fit(cov_type="robust", debiased=False)
    first, second = complier_effects(records, 0.9)
    assert (first.stratified, second.stratified) == (True, False)
    assert first.difference.value == pytest.approx(fit.params["d"], rel=1e-8)
    assert first.difference.value != pytest.approx(second.difference.value, abs=0.05)
    fieller, delta = first.difference.sets
    half = normal_quantile(0.9) * fit.std_errors["d"]
    assert (delta.low, delta.high) == pytest.approx((fit.params["d"] - half, fit.params["d"] + half), rel=1e-8)
    assert (fieller.validity, delta.validity) == (Validity.FIXED, Validity.APPROXIMATE)
    # With strong compliance the two agree, but for corrections for few patients.
    assert (fieller.low, fieller.high) == pytest.approx((delta.low, delta.high), abs=0.012)
    assert first.p_value is not None
    assert (first.p_value < 0.1) == (0.0 not in fieller)
    assert fit.params["d"] in fieller


@pytest.mark.parametrize(("seed", "n", "takes"), [(1, 400, 0.5), (2, 400, 0.05), (3, 60, 0.1), (5, 2000, 0.03)])
def test_anderson_rubin_set_is_all_effects_whose_robust_test_does_not_refute(seed: int, n: int, takes: float) -> None:
    records = trial(seed, n, takes=takes)
    found = compliers(records).difference.sets[0]
    arms = [(records.reward[records.chosen == arm], records.actual[records.chosen == arm]) for arm in (1, 0)]

    def statistic(effect: float) -> float:
        (treated, controls), z2 = [y - effect * d for y, d in arms], normal_quantile(0.95) ** 2
        variance = treated.var(ddof=1) / len(treated) + controls.var(ddof=1) / len(controls)
        return float((treated.mean() - controls.mean()) ** 2 - z2 * variance)

    grid = np.linspace(-20, 20, 801)
    assert [effect in found for effect in grid] == [statistic(effect) <= 0.0 for effect in grid.tolist()]
    for end in (found.low, found.high):
        if math.isfinite(end):
            assert statistic(end) == pytest.approx(0.0, abs=1e-8)


def test_weak_instruments_give_unbounded_sets() -> None:
    shapes = {compliers(trial(seed, 300, takes=0.03)).difference.sets[0].shape for seed in range(12)}
    assert shapes - {Shape.INTERVAL}


def test_ratio_is_that_of_the_compliers_means() -> None:
    records = trial(n=3000)
    found, strata = compliers(records), principal_strata(records)
    treated, untreated = (strata.means[f"compliers, {how}"].value for how in ("treated", "untreated"))
    assert treated is not None
    assert untreated is not None
    assert found.difference.value == pytest.approx(treated - untreated, rel=1e-10)
    assert found.ratio.value == pytest.approx(treated / untreated, rel=1e-10)
    y, d, z = records.reward, records.actual, records.chosen
    first_stage = d[z == 1].mean() - d[z == 0].mean()
    assert treated == pytest.approx(((y * d)[z == 1].mean() - (y * d)[z == 0].mean()) / first_stage, rel=1e-10)
    assert treated / untreated in found.ratio.sets[0]
    assert found.ratio.sets[1].low == pytest.approx(found.ratio.sets[0].low, rel=0.05)


def _obstacle(rows: Sequence[tuple[int, int, float, int]], arms: Sequence[str] = ("old", "new")) -> str:
    found = compliers(made(rows, arms))
    assert (found.difference.value, found.ratio.value, found.number_needed.value) == (None, None, None)
    return found.difference.reason


def test_what_cannot_be_estimated_is_said() -> None:
    assert "nobody assigned new has both" in _obstacle([(0, 0, 1.0, 5)])
    assert "nobody assigned either arm took new" in _obstacle([(0, 0, 1.0, 5), (1, 0, 1.0, 5), (1, 0, 0.0, 5)])
    defiers = [(0, 1, 1.0, 50), (0, 1, 0.0, 30), (1, 0, 1.0, 40), (1, 0, 0.0, 40)]
    assert "0.0% of those assigned new took it, and 100.0% of those assigned old did" in _obstacle(defiers)
    assert compliers(made(defiers)).difference.sets == ()  # a bounded one would be of the effect on defiers
    equal = [(arm, taken, y, 20) for arm in (0, 1) for taken in (0, 1) for y in (0.0, 1.0)]
    assert "no compliers are seen" in _obstacle(equal)
    assert compliers(made(equal)).difference.sets[0].shape is Shape.EVERYTHING
    three = [(0, 0, 1.0, 5), (0, 0, 0.0, 5), (1, 2, 1.0, 5), (1, 1, 0.0, 5), (2, 2, 1.0, 3)]
    assert "some of those assigned low or none took a third arm" in _obstacle(three, ("none", "low", "high"))


def test_more_than_two_arms_are_compared_where_nobody_took_a_third() -> None:
    two = [(0, 0, 1.0, 30), (0, 0, 0.0, 70), (1, 1, 1.0, 50), (1, 0, 0.0, 50)]
    found = effects(made([*two, (2, 2, 1.0, 9), (2, 0, 0.0, 9)], ("none", "low", "high"))).comparisons
    alone = compliers(made(two, ("none", "low")))
    pairs = {(one.treatment, one.control): one for one in found if one.view is View.COMPLIERS}
    assert list(pairs) == [("low", "none"), ("high", "none"), ("high", "low")]
    assert pairs["low", "none"].difference == alone.difference
    assert pairs["high", "low"].difference.value is None  # some of them took none


def test_those_who_took_nothing_and_those_not_known_are_counted_in_the_note() -> None:
    rows = [(0, 0, 1.0, 30), (0, TOOK_NOTHING, 0.0, 70), (1, 1, 1.0, 50), (1, TOOK_NOTHING, 0.0, 50)]
    found = compliers(made([*rows, (1, NOT_KNOWN, 1.0, 3), (0, 0, MISSING, 2)]))
    assert found.difference.value == pytest.approx((53 / 103 - 32 / 102) / 0.5)
    assert found.ratio.value == pytest.approx(1.0 / ((32 - 0) / 102 / 0.5))
    assert "took nothing or something else count as not taking new" in found.note
    assert "What 3 of 205 took is not known: the shares that took new" in found.note
    assert "2 of 205 outcomes are missing: each counts as the mean of the known ones" in found.note
