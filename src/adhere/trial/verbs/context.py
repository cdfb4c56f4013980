"""What `decide` is given besides the state and the command, and what it returns."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from typing import Any, NamedTuple

from adhere.checks import check_text
from adhere.errors import ConflictError, InputError, UnknownError
from adhere.store import Subject
from adhere.trial.commands import Command
from adhere.trial.events import AnyEvent
from adhere.trial.history import History
from adhere.trial.kits import Kits
from adhere.trial.log.chain import commitment
from adhere.trial.state import TrialState


class Change(NamedTuple):
    """An event, and what is kept outside the log with it: the subject it concerns, salt and free text."""

    event: AnyEvent
    subject: Subject | None = None
    note: tuple[bytes, str] | None = None


class Context(NamedTuple):
    """The circumstances of a command.

    `subject` is who the command names, if it names one; `new_salt` is for free text; `text_of` reads the free text
    that belongs to a record; `is_erased` tells whether the person of a recommendation was erased; `kits` are those of
    the trial.
    """

    command: Command
    at: datetime
    digest: str
    new_salt: Callable[[], bytes]
    text_of: Callable[[int], str | None]
    is_erased: Callable[[int], bool]
    kits: Kits
    subject: Subject | None = None

    def stamp(self, state: TrialState) -> dict[str, Any]:
        """The fields every event has."""
        return {
            "position": state.position + 1,
            "at": self.at,
            "by": self.command.by,
            "request_id": self.command.request_id,
            "digest": self.digest,
        }

    def note_for(self, recommendation_id: int, text: str | None) -> tuple[str, tuple[bytes, str] | None]:
        """The digest of free text for the log, and what is kept outside it: nothing about a person who was erased."""
        if text is None or self.is_erased(recommendation_id):
            return "", None
        salt = self.new_salt()
        return commitment(salt, text), (salt, text)


def find_history(state: TrialState, recommendation_id: int, site: str | None) -> History:
    """A recommendation that a site may see. Another site's is reported like one that does not exist."""
    history = state.histories.get(recommendation_id)
    if history is None or site not in (None, history.site):
        raise UnknownError("recommendation", recommendation_id, "the number of a recommendation made for this site")
    return history


def check_not_in_error(history: History) -> None:
    """Refuse what is said of an entry that was only a slip."""
    if history.in_error:
        number = history.recommendation_id
        sentence = f"recommendation {number} was entered in error; nothing more can be reported of it"
        raise ConflictError("recommendation", number, "one that was not entered in error", sentence)


def needed_recommendations(state: TrialState, command: Command, kits: Kits) -> list[int]:
    """The recommendations whose histories a command needs."""
    needed = [getattr(command, "recommendation_id", None)]
    kit = getattr(command, "kit", None)
    if kit is None and not state.design.blinded and (needed[0] is None or needed[0] in state.histories):
        return []  # as for most commands: what they need was fetched with the lock
    if state.design.blinded and command.site is not None:
        kit = getattr(command, "actual", kit)
    if kit is not None:
        with suppress(InputError):  # which `decide` will report
            needed.append(kits.recommendation_id(check_text("kit", kit), state.n_recommendations))
    return [number for number in needed if isinstance(number, int) and 0 <= number < state.n_recommendations]
