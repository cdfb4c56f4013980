"""The looks of a trial in words and names, for people and programs."""

from __future__ import annotations

from datetime import datetime

import msgspec

from adhere.store import ReadTransaction
from adhere.trial.design import Design
from adhere.trial.events import Looked, decode
from adhere.trial.log.chain import walk
from adhere.trial.looks import GO_ON, NAMES, VALUES
from adhere.trial.snapshot import decode_snapshot

CONTINUE = "go on"


class ArmAtLook(msgspec.Struct, frozen=True, omit_defaults=True):
    """An arm at a look: its status, the numbers compared with each threshold, its share until the next look."""

    arm: str
    status: str
    values: dict[str, float] = {}
    share: float | None = None  # if the allocation is frozen between looks


class LookView(msgspec.Struct, frozen=True, omit_defaults=True):
    """A look at a trial. A decision other than "go on" recommends to stop, which a person confirms by ending it."""

    look: int  # from 1
    record: int
    at: datetime
    outcomes: int
    recommendations: int
    decision: str
    arms: list[ArmAtLook]
    selected: str | None = None

    @property
    def is_stop(self) -> bool:
        """Whether it recommends to stop."""
        return self.decision != CONTINUE


def look_view(design: Design, event: Looked) -> LookView:
    """A look in words and names."""
    return LookView(
        look=event.look + 1,
        record=event.position,
        at=event.at,
        outcomes=event.n_outcomes,
        recommendations=event.n_recommendations,
        decision=CONTINUE if event.decision == GO_ON else NAMES[event.decision],
        arms=[
            ArmAtLook(
                arm,
                NAMES[event.status[number]],
                {name: value for name, value in zip(VALUES, event.values[number], strict=True) if value is not None},
                event.shares[number] if event.shares else None,
            )
            for number, arm in enumerate(design.arms)
        ],
        selected=None if event.selected is None else design.arms[event.selected],
    )


def logged_looks(view: ReadTransaction, trial: int, design: Design) -> list[LookView]:
    """The looks of a trial in a store so far: by what is stored of its state, or from its log where nothing is."""
    snapshot = decode_snapshot(view.head(trial).snapshot)
    if snapshot is None:
        bodies = [record.body for record in walk(view, trial)]
    else:
        made_at = () if snapshot.looks is None else snapshot.looks.made_at
        bodies = [view.records(trial, position - 1, 1)[0].body for position in made_at]
    events = (decode(body) for body in bodies if b'"looked"' in body)
    return [look_view(design, event) for event in events if isinstance(event, Looked)]


def recommended_stop(looks: list[LookView]) -> LookView | None:
    """The first look that recommends to stop, if one does."""
    return next((look for look in looks if look.is_stop), None)
