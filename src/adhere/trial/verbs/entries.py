"""Check a subject's rounds: which recommendation is open, and whether the design allows another.

Without `repeats`, a subject has at most one open recommendation. It is the latest, unless a correction reopened an
earlier one (`TrialState.reopened`). A correction that would open a second recommendation is refused.
"""

from adhere.errors import ConflictError, InputError, nearest
from adhere.trial.domain.commands import Recommend
from adhere.trial.domain.history import History
from adhere.trial.domain.state import TrialState


def entries_to_load(state: TrialState, latest: int | None) -> list[int]:
    """Return the indices of recommendations to load before the other functions of this module are called.

    Call this function until it returns an empty list. If an entry was made in error, the subject's previous entry is
    needed too.
    """
    if latest is None or state.design.repeats:
        return []
    needed = [latest, *state.reopened]
    if state.design.entries != "repeated":
        needed += _back_from(state, latest)
    return [index for index in needed if index not in state.histories]


def open_entry(state: TrialState, subject: str, latest: int | None) -> History | None:
    """Return the open recommendation of the subject with a key, or None. It is always None in a design with
    `repeats`.
    """
    if latest is None or state.design.repeats:
        return None
    rounds = [state.histories[index] for index in (latest, *state.reopened)]
    return next((one for one in rounds if one.is_open and one.subject == subject), None)


def check_site(state: TrialState, command: Recommend) -> None:
    """Refuse a subject without a site in a trial that has sites.

    A trial has sites as soon as a token of role site is valid only for this trial, or a subject was entered for a
    site.
    """
    if not command.site and (state.has_sites or command.sites):
        named = f", {nearest('', command.sites)}" if command.sites else ""
        expected = "the site that the subject is entered for"
        raise InputError("site", None, expected, f"site: name the site that the subject is entered for{named}")


def check_may_enter(state: TrialState, command: Recommend, latest: int | None) -> None:
    """Refuse a second entry of a subject if the design forbids it or asks for confirmation."""
    entries = state.design.entries
    if entries == "repeated" or latest is None or (entries == "ask" and command.again):
        return
    entered = next((one for index in _back_from(state, latest) if not (one := state.histories[index]).in_error), None)
    if entered is None:
        return
    number = entered.recommendation_id
    said = f"subject {command.subject!r} was entered on {entered.at:%Y-%m-%d} (recommendation {number})"
    if entries == "once":
        rest = "a subject can be entered only once. If that was an entry error, mark it as entered in error"
    else:
        rest = "to enter the subject again on purpose, send again=true"
    expected = "a subject who was not entered before"
    raise ConflictError("subject", command.subject, expected, f"{said}; {rest}", number)


def check_not_alike(state: TrialState, command: Recommend, alike: int | None) -> None:
    """Refuse a new subject with a code that resembles another subject's code.

    `alike` is the index of the other subject's latest recommendation, or None.
    """
    if alike is None:
        return
    number = state.histories[alike].recommendation_id
    sentence = (
        f"subject {command.subject!r} is new, but its code resembles that of another subject of the site "
        f"(recommendation {number}). If it is someone else, send it without refuse_alike"
    )
    raise ConflictError(
        "refuse_alike", command.subject, "a code that does not resemble another one of the site", sentence, number
    )


def check_may_reopen(state: TrialState, history: History, after: History, latest: int | None) -> None:
    """Refuse a correction that would leave a subject with two open recommendations."""
    if history.is_open or not after.is_open:
        return
    other = open_entry(state, history.subject, latest)
    if other is None:
        return
    sentence = (
        f"recommendation {other.recommendation_id} of the same subject is open, and only one may be open. First "
        "report on it in full, or mark it as lost to follow-up or as entered in error"
    )
    expected = "a correction after which the subject has one open recommendation"
    raise ConflictError("retract", history.recommendation_id, expected, sentence, other.recommendation_id)


def _back_from(state: TrialState, index: int | None) -> list[int]:
    """Return the indices of a subject's recommendations, latest first. Stop after the first recommendation that is
    not in error or not loaded.
    """
    found: list[int] = []
    while index is not None:
        found.append(index)
        history = state.histories.get(index)
        index = history.earlier if history is not None and history.in_error else None
    return found
