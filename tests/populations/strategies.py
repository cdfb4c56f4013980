"""Random populations for the property tests."""

from __future__ import annotations

from hypothesis import strategies as st

from adhere.populations import ComplianceType, ComplianceTypes, Count, Counts

UNIT = st.integers(0, 20).map(lambda twentieths: twentieths / 20)
NAMES = st.text("abcxyzäß Ω-'\"", min_size=1, max_size=6).map(str.strip).filter(bool)


@st.composite
def arm_lists(draw: st.DrawFn, most: int = 4) -> tuple[str, ...]:
    return tuple(draw(st.lists(NAMES, min_size=2, max_size=most, unique=True)))


@st.composite
def types_populations(draw: st.DrawFn) -> ComplianceTypes:
    arms = draw(arm_lists())
    arm = st.integers(0, len(arms) - 1)
    weights = draw(st.lists(st.integers(0, 9), min_size=1, max_size=5).filter(any))
    types = []
    for number, weight in enumerate(weights):
        takes = tuple(draw(arm) for _ in arms)
        reward = tuple(draw(UNIT) if a in takes or draw(st.booleans()) else None for a in range(len(arms)))
        types.append(ComplianceType(f"s{number}", weight / sum(weights), takes, reward))
    return ComplianceTypes("random compliance types", arms, types)


@st.composite
def counts_populations(draw: st.DrawFn) -> Counts:
    arms = draw(arm_lists())
    one_each = [Count(arm, draw(st.sampled_from(arms)), draw(UNIT), draw(st.integers(1, 50))) for arm in arms]
    anything = st.builds(Count, st.sampled_from(arms), st.sampled_from(arms), UNIT, st.integers(0, 50))
    return Counts("random counts", arms, one_each + draw(st.lists(anything, max_size=12)))
