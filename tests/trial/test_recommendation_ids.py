"""IDs of recommendations: each leads back to its index by the trial's key, and tells nobody else anything."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import pytest

from adhere.trial.secret.recommendation_ids import RecommendationIds, parse_id

IDS = RecommendationIds(bytes(range(32)))
N = 3000


def test_each_id_leads_back_to_its_index() -> None:
    made = [IDS.new(index) for index in (*range(N), 2**30 - 1)]
    assert len(set(made)) == N + 1
    assert [IDS.index_of(one) for one in made] == [*range(N), 2**30 - 1]
    assert all(parse_id(one) == one for one in made)


def test_the_same_index_gets_another_id_each_time() -> None:
    """Or an ID that was lost with its record would name the recommendation that was made in its place."""
    made = [IDS.new(7) for _ in range(N)]
    assert len(set(made)) == N
    assert {IDS.index_of(one) for one in made} == {7}


@pytest.mark.parametrize("is_same_index", [False, True])
def test_ids_of_neighbours_share_no_more_letters_than_any_two(is_same_index: bool) -> None:
    rng = Random(3)
    made = [IDS.with_bytes(7 if is_same_index else n, rng.randbytes(10)).replace("-", "") for n in range(N)]
    for place in range(16):
        same = sum(one[place] == two[place] for one, two in pairwise(made))
        assert abs(same / (N - 1) - 1 / 32) < 5 * (31 / 32**2 / (N - 1)) ** 0.5, place


def test_another_key_reads_other_indices() -> None:
    other = RecommendationIds(bytes(32))
    assert sum(other.index_of(IDS.new(index)) == index for index in range(N)) == 0


@pytest.mark.parametrize(
    "text", ["", "17", "ÄÄÄÄ-ÄÄÄÄ-ÄÄÄÄ-ÄÄÄÄ", "UUUU-UUUU-UUUU-UUUU", "4K7T-9QXA-M98F-RJC", "a" * 17]
)
def test_what_is_no_id_is_none(text: str) -> None:
    assert parse_id(text) is None


def test_ids_may_be_typed_as_they_were_read_aloud() -> None:
    for typed in ("4k7t-9qxa-m98f-rjcb", "4K7T9QXAM98FRJCB", " 4k7t 9qxa  m98f rjcb "):
        assert parse_id(typed) == "4K7T-9QXA-M98F-RJCB"
    assert parse_id("oOiI-lL11-0000-zzzz") == "0011-1111-0000-ZZZZ"
