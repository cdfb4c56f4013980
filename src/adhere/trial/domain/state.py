"""The state of a trial, computed from its log up to a position."""

from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

import msgspec
import numpy as np
from immutables import Map

from adhere.design.design import Design
from adhere.trial.domain.history import Counts, History
from adhere.trial.domain.look_state import LookState, first_look_state
from adhere.trial.domain.looker import Looker, looker_of
from adhere.trial.policy.engine import Engine, Floats
from adhere.trial.policy.updates import Row
from adhere.trial.secret.trial_keys import TrialKeys


class Refusal(NamedTuple):
    """An update at which the policy failed: its place, its recommendation, and the reason."""

    place: int
    recommendation_index: int
    reason: str


Histories: TypeAlias = Map[int, History]
ChangedUpdates: TypeAlias = Mapping[int, Row | None]  # by place; None for an update that no longer exists


class TrialState(msgspec.Struct, frozen=True, gc=False):
    """The state of a trial, computed from its log up to a position.

    `histories` contains the recommendations loaded so far by index, not all recommendations. `n_examined` counts the
    recommendations that the rule for missing reports has examined; it is not part of the log. `commitments` are those
    of all epochs so far; the secret of the last one draws the next arm. `refusals` are the updates that the policy
    refused and that no event has recorded yet.
    """

    design: Design
    engine: Engine
    policy_state: Floats
    position: int = 0
    status: str = "open"
    n_recommendations: int = 0
    n_examined: int = 0
    relearn_from: int | None = None
    changed_updates: ChangedUpdates = {}  # changes made by the last event
    refusals: tuple[Refusal, ...] = ()
    histories: Histories = Map()
    commitments: tuple[str, ...] = ("",)
    is_revealed: bool = False
    looker: Looker | None = None  # None unless the design has looks or prescribes the allocation
    looks: LookState | None = None  # None unless there is a looker
    counts: Counts = Counts()
    has_sites: bool = False  # whether a subject was entered for a site
    reopened: tuple[int, ...] = ()  # indices of recommendations that a correction reopened and that are still open

    @property
    def epochs(self) -> tuple[str, ...]:
        """The epochs so far, named as in recommendations: the first by an empty text, the others by their
        commitments.
        """
        return ("", *self.commitments[1:])

    @property
    def epoch(self) -> str:
        """The commitment to the secret that draws the next arm; empty if a seed draws it."""
        return self.commitments[-1]


def initial_state(design: Design, engine: Engine) -> TrialState:
    """Return the state before a trial's first record."""
    looker = looker_of(design, engine)
    looks = None if looker is None else first_look_state(looker.plan)
    commitments = (engine.keys.commitment,)
    return TrialState(design, engine, engine.first_state, looker=looker, looks=looks, commitments=commitments)


class NoPolicy(Engine):
    """A placeholder for the compiled policy, for reading a log without it. It learns nothing and draws no arm."""

    def __init__(self, keys: TrialKeys) -> None:
        self.keys, self.first_state = keys, np.zeros(0)
        self.memo_size, self.n_changing = -1, 0  # no memo has this size, so no report is an update
