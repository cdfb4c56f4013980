"""Kit codes: one for each recommendation, found again, and nothing to guess an arm by."""

from __future__ import annotations

from itertools import pairwise

import pytest

from adhere.errors import InputError
from adhere.trial.kits import Kits

KITS = Kits("t", bytes(range(32)))


def test_each_decision_has_a_code_of_its_own_that_leads_back() -> None:
    codes = [KITS.code(decision) for decision in range(3000)]
    assert len(set(codes)) == 3000
    for decision, code in enumerate(codes):
        assert KITS.recommendation_id(code, 3000) == decision
    assert Kits("t", bytes(range(1, 33))).code(0) != codes[0]


def test_codes_of_neighbours_share_no_more_letters_than_any_two() -> None:
    codes = [KITS.code(decision).replace("-", "") for decision in range(3000)]
    same = sum(a == b for one, two in pairwise(codes) for a, b in zip(one, two, strict=True))
    n = 8 * 2999
    assert abs(same / n - 1 / 32) < 4 * (31 / 32**2 / n) ** 0.5


@pytest.mark.parametrize("code", ["", "nonsense", "ILOU-ILOU", "18W9-1ER", "ÄÄÄÄ-ÄÄÄÄ", KITS.code(5000)])
def test_what_is_no_code_of_the_trial_is_refused(code: str) -> None:
    with pytest.raises(InputError, match="the code of a kit of this trial"):
        KITS.recommendation_id(code, 3000)
