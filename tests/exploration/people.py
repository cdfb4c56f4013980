"""Populations of four compliance types for tests."""

from __future__ import annotations

from hypothesis import strategies as st

from adhere.exploration.presets import NAMES, Group

Row = tuple[float, float, float]


def groups(never: Row, always: Row, compliers: Row, defiers: Row) -> tuple[Group, ...]:
    """Each compliance type's share, and its mean rewards on control and treatment."""
    rows = (never, always, compliers, defiers)
    return tuple(Group(name, *row) for name, row in zip(NAMES, rows, strict=True))


@st.composite
def any_groups(draw: st.DrawFn) -> tuple[Group, ...]:
    """Shares in twentieths, some of them 0, and rewards in tenths, as sliders give them."""
    cuts = sorted(draw(st.lists(st.integers(0, 20), min_size=3, max_size=3)))
    shares = [(b - a) / 20 for a, b in zip([0, *cuts], [*cuts, 20], strict=True)]
    reward = st.integers(0, 10).map(lambda tenths: tenths / 10)
    return tuple(Group(name, share, draw(reward), draw(reward)) for name, share in zip(NAMES, shares, strict=True))
