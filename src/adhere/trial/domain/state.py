"""The state of a trial: what its log amounts to, up to a position."""

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
    """An update at which the policy failed: its place, its recommendation, and why."""

    place: int
    recommendation_index: int
    reason: str


Histories: TypeAlias = Map[int, History]
ChangedUpdates: TypeAlias = Mapping[int, Row | None]  # by place; None for an update that is gone


class TrialState(msgspec.Struct, frozen=True, gc=False):
    """The state that a log amounts to, up to a position.

    `histories` has the recommendations loaded so far, not all of them, by their indices.
    `n_examined` is how far the rule for missing reports has come; it is no part of the log. `commitments` are those
    of all epochs so far: the last one's secret draws the next arm. `refusals` are updates that the policy refused and
    of which no event says so yet.
    """

    design: Design
    engine: Engine
    policy_state: Floats
    position: int = 0
    status: str = "open"
    n_recommendations: int = 0
    n_examined: int = 0
    relearn_from: int | None = None
    changed_updates: ChangedUpdates = {}  # by the last event
    refusals: tuple[Refusal, ...] = ()
    histories: Histories = Map()
    commitments: tuple[str, ...] = ("",)
    is_revealed: bool = False
    looker: Looker | None = None  # of a design that looks, or prescribes the allocation
    looks: LookState | None = None  # of such a design
    counts: Counts = Counts()
    has_sites: bool = False  # whether a subject was entered for a site
    reopened: tuple[int, ...] = ()  # indices of recommendations that a correction opened again, and that still are

    @property
    def epochs(self) -> tuple[str, ...]:
        """The epochs so far as recommendations name them: the first by an empty text, the others by commitments."""
        return ("", *self.commitments[1:])

    @property
    def epoch(self) -> str:
        """The commitment to the secret that draws the next arm; empty where a seed does."""
        return self.commitments[-1]


def initial_state(design: Design, engine: Engine) -> TrialState:
    """The state before a trial's first record."""
    looker = looker_of(design, engine)
    looks = None if looker is None else first_look_state(looker.plan)
    commitments = (engine.keys.commitment,)
    return TrialState(design, engine, engine.first_state, looker=looker, looks=looks, commitments=commitments)


class NoPolicy(Engine):
    """Stands for the compiled policy where a log is read without it: nothing is learned, and no arm is drawn."""

    def __init__(self, keys: TrialKeys) -> None:
        self.keys, self.first_state = keys, np.zeros(0)
        self.memo_size, self.n_changing = -1, 0  # no memo has this size, so that no report is an update
