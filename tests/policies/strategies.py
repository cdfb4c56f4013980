"""Random policies, however nested, and random ways to write them."""

from __future__ import annotations

import re

from hypothesis import strategies as st

from adhere import (
    BaseThompson,
    EpsilonGreedy,
    Exp3,
    HierarchicalBandit,
    HierarchicalExp3,
    Learner,
    Policy,
    Protocol,
    Thompson,
    ThompsonBounded,
    Ucb1,
    Uniform,
)
from adhere.protocols import ACTUAL, CHOSEN, COMPLY

shares = st.floats(0.0, 1.0)
positive_shares = st.floats(0.0, 1.0, exclude_min=True)
rates = st.none() | st.floats(0.0, 1e300, exclude_min=True)


@st.composite
def credit_tables(draw: st.DrawFn) -> Protocol:
    size = draw(st.integers(2, 4))
    arm = st.none() | st.integers(0, size - 1)
    return Protocol("credit", tuple(tuple(draw(arm) for _ in range(size)) for _ in range(size)))


protocols = st.sampled_from([CHOSEN, ACTUAL, COMPLY]) | credit_tables()

bases: st.SearchStrategy[Learner] = st.one_of(
    st.builds(Uniform),
    st.builds(Thompson),
    st.builds(BaseThompson),
    st.builds(Ucb1),
    st.builds(EpsilonGreedy, epsilon=st.none() | shares),
    st.builds(Exp3, gamma=st.none() | positive_shares),
)
learners = st.builds(lambda base, protocol: base.under(protocol), bases, protocols)
hierarchies = st.one_of(
    st.builds(HierarchicalBandit, bases, top=bases, recycle=st.booleans()),
    st.builds(HierarchicalBandit, bases),
    st.builds(
        lambda experts, top, recycle: HierarchicalBandit(experts=tuple(experts), top=top, recycle=recycle),
        st.lists(learners, min_size=2, max_size=4),
        bases,
        st.booleans(),
    ),
)
policies: st.SearchStrategy[Policy] = st.recursive(
    st.one_of(learners, hierarchies, st.builds(HierarchicalExp3, eta=rates, rho=rates)),
    lambda inner: st.builds(ThompsonBounded, inner, recycle=st.booleans(), literal=st.booleans()),
    max_leaves=4,
)

_WORD = re.compile(r"[a-z][a-z0-9-]*|[+-]?[0-9][0-9.]*(?:e[+-]?[0-9]+)?|-|.")


@st.composite
def spellings(draw: st.DrawFn) -> tuple[Policy, str]:
    """A policy and one of the ways to write it: spaces wherever they may stand, letters in any case."""
    policy = draw(policies)
    written = []
    for word in _WORD.findall(str(policy)):
        cased = "".join(draw(st.sampled_from([letter, letter.upper()])) for letter in word)
        written.append(draw(st.sampled_from(["", "", " ", "\n\t "])) + cased)
    return policy, "".join(written) + draw(st.sampled_from(["", "  "]))
