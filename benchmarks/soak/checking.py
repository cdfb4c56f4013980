"""After a soak: is every acknowledged request in the log, once and as answered, and the state what the log says?"""

from __future__ import annotations

import random
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.soak.clients import Acknowledged
from benchmarks.soak.fold import Folded, fold
from benchmarks.soak.house import ARMS, BLINDED, TRIALS, House

from adhere.store import open_store
from adhere.trial.domain.events import created_event
from adhere.trial.log.log_file import write_log
from adhere.trial.log.replay import replay
from adhere.trial.writing.running_state import read_state

_KINDS = {"recommend": "recommended", "report": "reported", "correct": "corrected", "withdraw": "withdrawn"}


@dataclass
class Checked:
    """What the logs say of the soak."""

    records: int = 0
    events: dict[str, int] = field(default_factory=dict)
    probabilities: int = 0
    missing: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


def check(house: House, acknowledged: dict[str, Acknowledged], seed: int) -> Checked:
    """Fold each trial's exported log in plain Python; compare it with what clients were told, and with adhere."""
    checked = Checked()
    with closing(open_store(house.database, read_only=True)) as store, store.reading() as view:
        for name, trial in view.trials().items():
            path = Path(house.folder) / f"{name}.log"
            write_log(view, trial, path)
            folded = fold(path, random.Random(seed))
            created = created_event(view, trial)
            state = read_state(view, trial, created.design, created.recorded_engine())
            _compare_counts(checked, name, folded, state.policy_state.tolist())
            result = replay(view, trial)
            if result.difference is not None:
                checked.faults.append(f"{name}: replay differs: {result.difference}")
            elif result.n_by_log or not result.n_derived:
                checked.faults.append(f"{name}: {result.n_by_log} arms could not be drawn again by the secret kept")
            _compare_answers(checked, folded, {k: a for k, a in acknowledged.items() if a.trial == name})
            checked.faults += [f"{name}: {fault}" for fault in folded.faults]
            checked.records += folded.n_records
            checked.probabilities += folded.n_probabilities
            for kind, n in folded.kinds.items():
                checked.events[kind] = checked.events.get(kind, 0) + n
        if tuple(view.trials()) != TRIALS:
            checked.faults.append(f"the trials are {', '.join(view.trials())}")
    return checked


def _compare_counts(checked: Checked, name: str, folded: Folded, state: list[float]) -> None:
    """A state of two-arm Thompson begins with 1 + successes and 1 + failures, arm by arm."""
    (f0, s0), (f1, s1) = folded.counts()
    expected = [1.0 + s0, 1.0 + s1, 1.0 + f0, 1.0 + f1]
    if state[:4] != expected:
        checked.faults.append(f"{name}: the state is {state[:4]}, and the fold gives {expected}")


def _compare_answers(checked: Checked, folded: Folded, acknowledged: dict[str, Acknowledged]) -> None:
    for key, told in acknowledged.items():
        event = folded.by_request.get(key)
        if event is None:
            checked.missing.append(key)
        elif not _matches(told, event, folded.recommendations[event["recommendation_index"]]["id"]):
            checked.faults.append(f"{key}: {told} was acknowledged, and {event} recorded")


def _matches(told: Acknowledged, event: dict[str, Any], recommendation_id: str) -> bool:
    # A report of what was known already, or of what another client said before, is recorded as such.
    if event["event"] != _KINDS[told.kind] and not (told.kind == "report" and event["event"] == "repeated"):
        return False
    if told.answer["recommendation_id"] != recommendation_id:
        return False
    if told.kind == "recommend":
        return told.trial == BLINDED or told.answer.get("arm") == ARMS[event["chosen"]]
    if "record" in told.answer:  # a site is not told positions
        return False
    if event["event"] == "repeated" or told.kind == "withdraw":
        return True
    body = told.body
    actual = body.get("actual")
    if body.get("took_nothing"):
        taken: object = -1
    elif body.get("took_other"):
        taken = -2
    else:
        taken = event.get("actual") if actual is not None and told.trial == BLINDED else _number(actual)
    return event.get("actual") == taken and event.get("reward") == body.get("reward")


def _number(actual: str | None) -> int | None:
    return None if actual is None else ARMS.index(actual)
