"""The circumstances that `decide` gets besides the state and the command, and the changes it returns."""

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from typing import Any, NamedTuple

from adhere.checks import check_text
from adhere.errors import ConflictError, InputError, SecretUnknownError, UnknownError, short
from adhere.store import Subject
from adhere.trial.domain.commands import Command
from adhere.trial.domain.events import AnyEvent
from adhere.trial.domain.history import History
from adhere.trial.domain.log_records import commitment
from adhere.trial.domain.state import TrialState
from adhere.trial.secret.kits import Kits, unknown_kit


class Change(NamedTuple):
    """An event, and the data stored with it outside the log: its subject, and the salt and free text."""

    event: AnyEvent
    subject: Subject | None = None
    note: tuple[bytes, str] | None = None


class Context(NamedTuple):
    """The circumstances of a command.

    - `subject` is the subject that the command names, if any.
    - `latest` is the index of the subject's latest recommendation, if a correction retracts something.
    - `new_salt` returns a salt for free text; `text_of` reads the free text of a record.
    - `is_erased` returns whether the subject of a recommendation was erased.
    - `kits` are the kits of the trial.
    - `alike` is the index of the latest recommendation of a subject with a similar code, if the command refuses one.
    """

    command: Command
    at: datetime
    digest: str
    new_salt: Callable[[], bytes]
    text_of: Callable[[int], str | None]
    is_erased: Callable[[int], bool]
    kits: Kits
    subject: Subject | None = None
    latest: int | None = None
    alike: int | None = None

    def stamp(self, state: TrialState) -> dict[str, Any]:
        """Return the fields that every event has."""
        return {
            "position": state.position + 1,
            "at": self.at,
            "by": self.command.by,
            "request_id": self.command.request_id,
            "digest": self.digest,
        }

    def note_for(self, recommendation_index: int, text: str | None) -> tuple[str, tuple[bytes, str] | None]:
        """Return the digest of free text for the log, and the salted text to store unless the subject was erased."""
        if text is None or self.is_erased(recommendation_index):
            return "", None
        salt = self.new_salt()
        return commitment(salt, text), (salt, text)


def find_history(state: TrialState, recommendation_id: str, site: str | None) -> History:
    """Return a recommendation that a site may see. Another site's recommendation is reported as unknown."""
    history = named_history(state, recommendation_id)
    if history is None or site not in (None, history.site):
        raise unknown_recommendation(recommendation_id)
    return history


def named_history(state: TrialState, recommendation_id: str) -> History | None:
    """Return the loaded recommendation with an ID, or None if there is none."""
    try:
        index = state.engine.keys.ids.index_of(recommendation_id)
    except SecretUnknownError:
        return next((one for one in state.histories.values() if one.recommendation_id == recommendation_id), None)
    history = None if index is None else state.histories.get(index)
    # A lost recommendation and its successor at the same index have different IDs.
    return history if history is not None and history.recommendation_id == recommendation_id else None


def unknown_recommendation(recommendation_id: str) -> UnknownError:
    """Return the error for an ID that this site never received, or that a restored backup lacks."""
    expected = "the ID of a recommendation made for this site"
    sentence = (
        f"recommendation {short(recommendation_id)} is not known here: check the ID. If it was given out before a "
        "backup was restored, do not send it again, and tell whoever runs the trial what was given to the subject"
    )
    return UnknownError("recommendation", recommendation_id, expected, sentence)


def find_kit(state: TrialState, kits: Kits, code: str) -> int:
    """Return the index of the recommendation that a kit was given for."""
    for epoch, index in kits.candidates(code, reversed(state.epochs)):
        history = state.histories.get(index) if index < state.n_recommendations else None
        if history is not None and history.epoch == epoch:  # otherwise the kit was lost with its record
            return index
    raise unknown_kit(code)


def check_not_in_error(history: History) -> None:
    """Raise `ConflictError` if a recommendation was entered in error."""
    if history.in_error:
        number = history.recommendation_id
        sentence = f"recommendation {number} was entered in error; nothing more can be reported about it"
        raise ConflictError("recommendation", number, "one that was not entered in error", sentence)


def needed_recommendations(state: TrialState, command: Command, kits: Kits) -> list[int]:
    """Return the indices of recommendations that a command needs besides those fetched with the lock."""
    kit = getattr(command, "kit", None)
    if state.design.blinded and command.site is not None:
        kit = getattr(command, "actual", kit)
    needed: list[int] = []
    if kit is not None:
        with suppress(InputError):  # `decide` will report it
            needed += [one.recommendation_index for one in kits.candidates(check_text("kit", kit), state.epochs)]
    return [index for index in needed if index < state.n_recommendations]
