"""Kit codes: one for each recommendation of each epoch, found again, and nothing to guess an arm by."""

from __future__ import annotations

from itertools import pairwise

import pytest

from adhere.errors import ConflictError, InputError
from adhere.trial.secret.kits import MAX_KITS, Kit, Kits

SECRETS = {"a": bytes(range(1, 33)), "b": bytes(range(2, 34))}
KITS = Kits("t", bytes(range(32)), find=SECRETS.get)


def test_each_recommendation_of_each_epoch_has_a_code_of_its_own_that_leads_back() -> None:
    kits = [Kit(epoch, index) for epoch in ("", "a", "b") for index in (*range(1000), MAX_KITS - 1)]
    codes = [KITS.code(*kit) for kit in kits]
    assert len(set(codes)) == len(kits)
    for kit, code in zip(kits, codes, strict=True):
        for typed in (code, code.replace("-", " ").lower()):
            assert list(KITS.candidates(typed, [kit.epoch])) == [kit]


def test_codes_of_another_epoch_hardly_ever_stand_for_anything() -> None:
    found = [kit for index in range(20_000) for kit in KITS.candidates(KITS.code("a", index), ["", "b"])]
    assert len(found) <= 5  # 40,000 tries, each of which hits by chance once in 65,536
    assert not [kit for kit in found if kit.recommendation_index < 20_000]


def test_two_branches_of_one_trial_share_no_code() -> None:
    """After two restores of one backup the same indices come again, in epochs with other secrets."""
    first, second = ([KITS.code(epoch, index) for index in range(3000)] for epoch in ("a", "b"))
    assert not set(first) & set(second)


def test_there_are_no_more_kits_than_codes() -> None:
    KITS.check_usable(MAX_KITS - 1)
    with pytest.raises(ConflictError, match="a blinded trial of at most 16,777,216 kits"):
        KITS.check_usable(MAX_KITS)


def test_codes_of_neighbours_share_no_more_letters_than_any_two() -> None:
    codes = [KITS.code("", index).replace("-", "") for index in range(3000)]
    same = sum(a == b for one, two in pairwise(codes) for a, b in zip(one, two, strict=True))
    n = 8 * 2999
    assert abs(same / n - 1 / 32) < 4 * (31 / 32**2 / n) ** 0.5


@pytest.mark.parametrize("code", ["", "ILOU-ILOU", "18W9-1ER", "ÄÄÄÄ-ÄÄÄÄ", f"{KITS.code('', 0)}0"])
def test_what_is_no_code_is_refused(code: str) -> None:
    with pytest.raises(InputError, match="the code of a kit of this trial"):
        list(KITS.candidates(code, [""]))


def test_without_a_secret_there_are_none() -> None:
    none = Kits("t", None, "a trial whose secret is kept here")
    assert not none.usable
    for ask in (
        none.check_usable,
        lambda: none.code("", 0),
        lambda: list(none.candidates(KITS.code("", 0), [""])),
    ):
        with pytest.raises(ConflictError, match="a trial whose secret is kept here"):
            ask()


def test_an_epoch_whose_secret_is_missing_is_named() -> None:
    with pytest.raises(ConflictError, match="the secret of the epoch c… is missing"):
        KITS.code("c", 0)
