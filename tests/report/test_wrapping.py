from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from adhere.report.text_table import packed, paragraph, policy_lines

LONG = "thompson-bounded(hierarchical(epsilon-greedy, top=exp3(gamma=0.085)), recycle=true)"


@given(st.lists(st.text("ab, ", min_size=1, max_size=30), min_size=1), st.integers(1, 40))
def test_nothing_is_lost_and_no_line_too_long(pieces: list[str], width: int) -> None:
    lines = packed(pieces, width)
    assert max(len(line) for line in lines) <= width
    assert "".join(lines).replace(" ", "") == "".join(pieces).replace(" ", "")


@given(st.integers(1, 100))
def test_policies_are_broken_not_cut(width: int) -> None:
    lines = policy_lines(LONG, width)
    assert max(len(line) for line in lines) <= width
    assert "".join(lines).replace(" ", "") == LONG.replace(" ", "")


def test_policies_break_where_a_reader_would() -> None:
    assert policy_lines(LONG, 50) == [
        "thompson-bounded(hierarchical(epsilon-greedy,",
        "top=exp3(gamma=0.085)), recycle=true)",
    ]
    assert policy_lines("thompson/credit[0 1; - 1]", 40) == ["thompson/credit[0 1; - 1]"]


def test_paragraph() -> None:
    assert paragraph("a  b\nc-d", 20, indent="  ") == "  a b c-d"
