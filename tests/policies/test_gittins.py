"""`gittins` and its indices; the oracle has them by bisection."""

from __future__ import annotations

import numpy as np
import pytest

from adhere import InputError, Trial, optimal_surplus, parse_policy, simulate
from adhere.compilation.static import type_for
from adhere.policies.base.policy import TrialShape
from adhere.policies.tables.gittins import compute_indices, kept_indices, position_of, table_size
from oracle import gittins_index

from .reference import next_chances, taught

HORIZON = 30


@pytest.fixture(scope="module")
def table() -> object:
    return compute_indices(HORIZON)


def test_indices_are_those_of_bisection(table: object) -> None:
    """From below, and of a place each: all that a trial of so many patients may ask for."""
    found, expected = np.array(table), np.full(table_size(HORIZON), np.nan)
    every = [(s, n - s, left) for n in range(HORIZON) for s in range(n + 1) for left in range(1, HORIZON - n + 1)]
    assert len(every) == len({position_of(HORIZON, s + f, s, left) for s, f, left in every}) == found.size
    for s, f, left in every[::7]:
        expected[position_of(HORIZON, s + f, s, left)] = gittins_index(s, f, left)
    errors = (found - expected)[~np.isnan(expected)]
    assert errors.max() < 1e-7  # float32
    assert errors.min() > -1e-5
    assert abs(errors).mean() < 1e-7


def test_indices_rise_from_the_mean_with_the_patients_to_come(table: object) -> None:
    found = np.array(table)
    for n in range(HORIZON):
        for s in range(n + 1):
            first = position_of(HORIZON, n, s, 1)
            row = found[first : first + HORIZON - n]
            assert row[0] == np.float32((s + 1) / (n + 2))
            assert (np.diff(row) > -1e-5).all()
    assert found[position_of(HORIZON, 0, 0, 2)] == pytest.approx(0.5 * (1 + 2 / 3) / 1.5, abs=1e-7)


def test_a_thousand_patients_take_less_than_a_gigabyte_and_more_are_refused() -> None:
    assert kept_indices(1000).working_bytes < 0.7e9
    with pytest.raises(InputError, match=r"at most 1,000 patients \(got 1,001\); gittins\(horizon=1000\) goes on"):
        simulate("gittins", "defiers", 1001, 1, progress=False)
    with pytest.raises(InputError, match=r"gittins horizon: got 1001.* expected a whole number .* at most 1000"):
        parse_policy("gittins(horizon=1001)")
    with pytest.raises(InputError, match=r"needs n_patients=… .*, to set the patients that gittins plans for"):
        Trial("gittins", ("a", "b"))


def test_what_is_known_less_is_tried_until_few_patients_are_left() -> None:
    """One success of two against none of none: equal means, and only the last patient is not for learning."""
    lessons = [(0, 1.0), (0, 0.0)]
    assert next_chances(taught("gittins(horizon=16)/actual", 2, [])) == [0.5, 0.5]
    assert next_chances(taught("gittins(horizon=16)/actual", 2, lessons)) == [0.0, 1.0]
    assert next_chances(taught("gittins(horizon=4)/actual", 2, lessons)) == [0.0, 1.0]
    assert next_chances(taught("gittins(horizon=3)/actual", 2, lessons)) == [0.5, 0.5]
    assert next_chances(taught("gittins(horizon=2)/actual", 2, lessons)) == [0.5, 0.5]  # past the horizon
    assert next_chances(taught("gittins(horizon=2)/actual", 2, [*lessons, (0, 1.0)])) == [1.0, 0.0]


def test_of_two_arms_it_gains_nearly_the_optimum() -> None:
    """Its expected rewards over uniform success rates, by going back through all counts: 99.93% of the optimum."""
    horizon, values = 12, dict[tuple[int, int, int], float]()
    indices = kept_indices(horizon).array()
    for n in range(horizon, -1, -1):
        later, values = values, {}
        for n_0, s_0, s_1 in ((a, b, c) for a in range(n + 1) for b in range(a + 1) for c in range(n - a + 1)):
            if n == horizon:
                values[n_0, s_0, s_1] = -horizon / 2  # what randomisation gains
                continue
            own = [indices[position_of(horizon, *counts, horizon - n)] for counts in ((n_0, s_0), (n - n_0, s_1))]
            p_0, p_1 = (s_0 + 1) / (n_0 + 2), (s_1 + 1) / (n - n_0 + 2)
            first = p_0 * (1 + later[n_0 + 1, s_0 + 1, s_1]) + (1 - p_0) * later[n_0 + 1, s_0, s_1]
            second = p_1 * (1 + later[n_0, s_0, s_1 + 1]) + (1 - p_1) * later[n_0, s_0, s_1]
            values[n_0, s_0, s_1] = first if own[0] > own[1] else second if own[1] > own[0] else (first + second) / 2
    assert 0.999 < values[0, 0, 0] / optimal_surplus(horizon) < 1.0


def test_horizons_share_their_compiled_code() -> None:
    rules = [parse_policy(f"gittins(horizon={horizon})").assemble(TrialShape(2)).rule for horizon in (15, 16)]
    assert len({type_for(rule)(rule) for rule in rules}) == 1
