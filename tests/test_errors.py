from __future__ import annotations

from adhere.errors import nearest


def test_at_most_ten_candidates_are_listed() -> None:
    names = [f"arm {number}" for number in range(33)]
    assert nearest("x", names) == f"one of {', '.join(names[:10])} and 23 more"
    assert nearest("x", names[:10]) == f"one of {', '.join(names[:10])}"


def test_the_one_that_comes_close_is_named_even_if_it_is_not_listed() -> None:
    names = [*(f"policy {number}" for number in range(33)), "Thompson"]
    assert nearest("tompson", names).endswith(" and 24 more (did you mean 'Thompson'?)")
