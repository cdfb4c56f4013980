"""The looks of a trial, with words and names in place of codes and indices."""

from datetime import datetime

import msgspec

from adhere.design.design import Design
from adhere.design.make_look_rules import LookNames, LookThreshold
from adhere.looks.judge import GO_ON, NAMES
from adhere.store import ReadTransaction
from adhere.trial.domain.events import Looked, decode
from adhere.trial.domain.log_records import walk
from adhere.trial.writing.snapshot import decode_snapshot, summary_of

CONTINUE = "go on"


class ArmAtLook(msgspec.Struct, frozen=True, omit_defaults=True):
    """An arm at a look: its status, the values compared with thresholds (by name), and its share until the next
    look.
    """

    arm: str
    status: str
    values: dict[str, float] = {}
    share: float | None = None  # if the allocation is frozen between looks


class LookView(msgspec.Struct, frozen=True, omit_defaults=True):
    """A look at a trial. Any decision other than "go on" recommends a stop, which a person confirms by ending the
    trial.
    """

    look: int  # from 1
    record: int
    at: datetime
    outcomes: int
    recommendations: int
    decision: str
    arms: list[ArmAtLook]
    selected: str | None = None
    thresholds: dict[str, LookThreshold] = {}  # by purpose: superiority, inferiority, …

    @property
    def is_stop(self) -> bool:
        """Return whether the look recommends a stop."""
        return self.decision != CONTINUE


def decision_of(event: Looked) -> str:
    """Return the decision of a look as a word."""
    return CONTINUE if event.decision == GO_ON else NAMES[event.decision]


def logged_looks(view: ReadTransaction, trial: int, design: Design) -> list[LookView]:
    """Return the looks of a stored trial so far, with words and names in place of codes and indices."""
    events = look_events(view, trial)
    if not events:
        return []
    names = LookNames(design)
    return [
        LookView(
            look=event.look + 1,
            record=event.position,
            at=event.at,
            outcomes=event.n_outcomes,
            recommendations=event.n_recommendations,
            decision=decision_of(event),
            arms=[
                ArmAtLook(
                    arm,
                    NAMES[event.status[number]],
                    names.named(event.values[number]),
                    event.shares[number] if event.shares else None,
                )
                for number, arm in enumerate(design.arms)
            ],
            selected=None if event.selected is None else design.arms[event.selected],
            thresholds=names.thresholds(event.look),
        )
        for event in events
    ]


def look_events(view: ReadTransaction, trial: int) -> list[Looked]:
    """Return the events of the looks so far, located with the stored snapshot or, if there is no snapshot, by reading
    the complete log.
    """
    snapshot = decode_snapshot(view.head(trial).snapshot)
    if snapshot is None:
        bodies = [record.body for record in walk(view, trial)]
    else:
        positions = () if snapshot.looks is None else snapshot.looks.made_at
        bodies = [view.records(trial, position - 1, 1)[0].body for position in positions]
    events = (decode(body) for body in bodies if b'"looked"' in body)
    return [event for event in events if isinstance(event, Looked)]


def stop_to_confirm(view: ReadTransaction, trial: int) -> Looked | None:
    """Return the first look that recommends a stop, or None if there is none or the trial is closed."""
    snapshot = decode_snapshot(view.head(trial).snapshot)
    has_none = snapshot is not None and (snapshot.looks is None or snapshot.looks.stop_at is None)
    if has_none or summary_of(view, trial).status == "closed":
        return None
    return next((event for event in look_events(view, trial) if event.decision != GO_ON), None)


def recommended_stop(looks: list[LookView]) -> LookView | None:
    """Return the first look that recommends a stop, or None."""
    return next((look for look in looks if look.is_stop), None)
