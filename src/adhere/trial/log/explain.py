"""How one recommendation came to be and what became of it, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from adhere.errors import InputError
from adhere.store.contract import Reading
from adhere.trial.design import Design
from adhere.trial.events import (
    AnyEvent,
    Corrected,
    Created,
    Imputed,
    Recommended,
    Repeated,
    Reported,
    Unblinded,
    Withdrawn,
    decode,
)
from adhere.trial.trial import words_for


def explained(view: Reading, trial: int, decision: int) -> Iterator[str]:
    """Line by line, everything the log says of a recommendation."""
    created = decode(view.records(trial, 0, 1)[0].body)
    assert isinstance(created, Created)
    bodies = view.cases(trial, [decision]).get(decision)
    if not bodies:
        raise InputError("recommendation", decision, "the number of a recommendation of this trial")
    who = {subject.key: subject.pseudonym for subject in view.subjects(trial)}
    events = [decode(body) for body in bodies]
    made = events[0]
    assert isinstance(made, Recommended)
    design = created.design
    yield f"Trial {design.name}, recommendation {decision}: {design.arms[made.chosen]}"
    yield f"  when       {made.at.isoformat()} (record {made.position})"
    yield f"  for        {who.get(made.subject, 'somebody who was erased')} (key {made.subject})"
    yield f"  asked by   {made.by or 'nobody named'}, request {made.request or 'without an id'}"
    yield f"  policy     {design.policy}, which had learned from the records up to {made.seen}"
    chances = [f"{arm} {chance:.4f}" for arm, chance in zip(design.arms, made.probabilities, strict=False)]
    how = "estimated by drawing" if made.estimated else "exact"
    yield f"  chances    {', '.join(chances) or 'not known'} ({how})"
    if made.fallback:
        yield f"  fallback   the policy failed, so every arm had the same chance: {made.fallback}"
    if made.memo:
        yield f"  memo       {', '.join(f'{number:g}' for number in made.memo)}"
    yield f"  drawn by   key {made.key}, decision {decision}; law {made.law}; adhere {made.software}"
    yield "Since then:" if len(events) > 1 else "Nothing was heard of it since."
    for event in events[1:]:
        yield f"  {event.at.isoformat()}  record {event.position}  {_told(design, event)}{_by(event)}"


def _told(design: Design, event: AnyEvent) -> str:
    if isinstance(event, Repeated):
        return "asked for, or reported, again"
    if isinstance(event, Reported):
        return f"reported: {_values(design.arms, event)}"
    if isinstance(event, Imputed):
        return f"nothing was heard, so the trial's rule counts: {_values(design.arms, event)}"
    if isinstance(event, Corrected):
        taken_back = [f"{part} taken back" for part in event.retract]
        return f"corrected: {', '.join(filter(None, [_values(design.arms, event), *taken_back]))} ({event.reason})"
    if isinstance(event, Withdrawn):
        return f"withdrawn ({event.reason})"
    if isinstance(event, Unblinded):
        return f"unblinded ({event.reason})"
    return "something else"


def _values(arms: Sequence[str], event: Reported | Imputed | Corrected) -> str:
    said = [] if event.actual is None else [f"actual {words_for(arms, event.actual)}"]
    return ", ".join(said + ([] if event.reward is None else [f"reward {event.reward:g}"]))


def _by(event: AnyEvent) -> str:
    return f", by {event.by}" if event.by else ""
