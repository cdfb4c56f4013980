"""Kit codes: one for each recommendation of each epoch, found again, and nothing to guess an arm by."""

from __future__ import annotations

from itertools import pairwise

import pytest

from adhere.errors import ConflictError, InputError
from adhere.trial.kits import MAX_KITS, Kit, Kits

KITS = Kits("t", bytes(range(32)))


def test_each_recommendation_of_each_epoch_has_a_code_of_its_own_that_leads_back() -> None:
    kits = [Kit(epoch, index) for epoch in (0, 1, 65_535) for index in (*range(1000), MAX_KITS - 1)]
    codes = [KITS.code(*kit) for kit in kits]
    assert len(set(codes)) == len(kits)
    for kit, code in zip(kits, codes, strict=True):
        assert KITS.find(code) == KITS.find(code.replace("-", " ").lower()) == kit


def test_codes_made_by_another_secret_lead_to_no_kit_that_was_given_out() -> None:
    other = Kits("t", bytes(range(1, 33)))
    found = [KITS.find(other.code(0, index)) for index in range(3000)] + [KITS.find("nonsense")]
    assert not [kit for kit in found if kit.epoch == 0 and kit.recommendation_index < 3000]


def test_epochs_are_counted_from_0_again_after_the_last_that_a_code_can_hold() -> None:
    assert KITS.code(65_536, 3) == KITS.code(0, 3)
    assert KITS.find(KITS.code(65_536, 3)).is_of(65_536)
    assert not KITS.find(KITS.code(65_536, 3)).is_of(65_537)


def test_there_are_no_more_kits_than_codes() -> None:
    KITS.check_usable(MAX_KITS - 1)
    with pytest.raises(ConflictError, match="a blinded trial of at most 16,777,216 kits"):
        KITS.check_usable(MAX_KITS)


@pytest.mark.parametrize("epochs", [False, True])
def test_codes_of_neighbours_share_no_more_letters_than_any_two(epochs: bool) -> None:
    codes = [KITS.code(*((one, 7) if epochs else (0, one))).replace("-", "") for one in range(3000)]
    same = sum(a == b for one, two in pairwise(codes) for a, b in zip(one, two, strict=True))
    n = 8 * 2999
    assert abs(same / n - 1 / 32) < 4 * (31 / 32**2 / n) ** 0.5


@pytest.mark.parametrize("code", ["", "ILOU-ILOU", "18W9-1ER", "ÄÄÄÄ-ÄÄÄÄ", f"{KITS.code(0, 0)}0"])
def test_what_is_no_code_is_refused(code: str) -> None:
    with pytest.raises(InputError, match="the code of a kit of this trial"):
        KITS.find(code)


def test_without_a_secret_there_are_none() -> None:
    none = Kits("t", None, "a trial whose secret is kept here")
    assert not none.usable
    for ask in (none.check_usable, lambda: none.code(0, 0), lambda: none.find(KITS.code(0, 0))):
        with pytest.raises(ConflictError, match="a trial whose secret is kept here"):
            ask()
