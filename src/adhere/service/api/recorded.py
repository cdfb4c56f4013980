"""Records about a recommendation since it was made, as far as whoever asks may see them.

A site is shown what it did itself, and what an admin reported for it. In a blinded trial kits stand for arms, and a
reason or words of anybody else are left out, because they may name an arm. What a rule imputed is not shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from adhere.design.arms import TOOK_NOTHING, TOOK_OTHER
from adhere.design.design import Design
from adhere.service.api.responses import RecordedLine
from adhere.store import ReadTransaction, Token
from adhere.trial.domain.events import (
    AnyEvent,
    Corrected,
    EnteredInError,
    Recommended,
    Reported,
    Unblinded,
    Withdrawn,
    decode,
)
from adhere.trial.writing.transaction import LiveTrial

WORDS: Final = {TOOK_NOTHING: "nothing", TOOK_OTHER: "other"}
_SHOWN: Final = (Reported, Corrected, Withdrawn, EnteredInError, Unblinded)
_OTHERS: Final = {"admin": "an admin", "statistician": "a statistician"}


def recorded_lines(
    view: ReadTransaction, live: LiveTrial, events: Sequence[AnyEvent], site: str | None
) -> tuple[RecordedLine, ...]:
    """One line for each report, correction and unblinding, in order; `site` is that of whoever asks, None: all.

    A kit of another recommendation that the subject took may have been unblinded too.
    """
    kits = named_kits(view, live, events)
    own = events[0].recommendation_index if isinstance(events[0], Recommended) else -1
    found = [event for event in events if isinstance(event, _SHOWN)]
    found += [one for index, about in kits.items() if index != own for one in about if isinstance(one, Unblinded)]
    if not found:
        return ()
    tokens = {f"token {token.id}": token for token in view.tokens()}
    lines = [_line(view, live, event, tokens.get(event.by), kits, site) for event in found]
    return tuple(sorted((line for line in lines if line is not None), key=lambda line: line.at))


def named_kits(
    view: ReadTransaction, live: LiveTrial, events: Sequence[AnyEvent]
) -> Mapping[int, Sequence[AnyEvent]]:
    """The events about each recommendation whose kit is named by an event about this one, and about itself."""
    if not live.kits.usable:
        return {}
    named = {event.kit for event in events if isinstance(event, Reported | Corrected) and event.kit is not None}
    first = events[0]
    own = {first.recommendation_index: events} if isinstance(first, Recommended) else {}
    others = view.histories(live.number, sorted(named - own.keys()))
    return own | {index: [decode(body) for body in bodies] for index, bodies in others.items()}


def kit_code(live: LiveTrial, kits: Mapping[int, Sequence[AnyEvent]], index: int | None) -> str | None:
    """The code of a kit, or None if the report named none."""
    made = kits[index][0] if index is not None and index in kits else None
    return live.kits.code(made.epoch, made.recommendation_index) if isinstance(made, Recommended) else None


def taken_as_shown(design: Design, taken: int, kit: str | None, *, hidden: bool) -> tuple[str, str | None]:
    """The kind of what was taken, and the arm; where arms are hidden, the code of the kit that was named."""
    if taken in WORDS:
        return WORDS[taken], None
    return ("kit", kit) if hidden else ("arm", design.arms[taken])


def _line(
    view: ReadTransaction,
    live: LiveTrial,
    event: AnyEvent,
    by: Token | None,
    kits: Mapping[int, Sequence[AnyEvent]],
    site: str | None,
) -> RecordedLine | None:
    is_own = site is None or (by is not None and by.site == site)
    if isinstance(event, Unblinded) and not is_own:
        return None
    hidden = live.design.blinded and site is not None
    tells = is_own or not live.design.blinded  # whether its reason and words are shown
    named = event.recommendation_index if isinstance(event, Unblinded) else getattr(event, "kit", None)
    kit, actual = kit_code(live, kits, named), getattr(event, "actual", None)
    took, taken = (None, None) if actual is None else taken_as_shown(live.design, actual, kit, hidden=hidden)
    has_words = tells and isinstance(event, Reported | Corrected) and event.text
    words = view.note(live.number, event.position) if has_words else None
    return RecordedLine(
        event=str(event.__struct_config__.tag),
        at=event.at,
        by=_name(by, event.by, is_own=is_own),
        took=took,
        actual=taken,
        took_other=words,
        kit=kit,
        reward=getattr(event, "reward", None),
        happened=getattr(event, "happened", None),
        retract=getattr(event, "retract", ()),
        reason=getattr(event, "reason", None) if tells else None,
    )


def _name(by: Token | None, in_log: str, *, is_own: bool) -> str:
    """Name whoever recorded something: by the label of the token or, to another site, by the role."""
    if is_own:
        return by.label if by is not None else in_log or "the service"
    return _OTHERS.get(by.role, "another site") if by is not None else "the service"
