"""Exceptions for what a user can correct: invalid input, or a machine or store that cannot be used."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

_MOST_LISTED = 10


class InputError(ValueError):
    """Error for a value that cannot be used. It names the field, the value and what was expected.

    Parameters
    ----------
    field : str
        Field that the value was given for.
    value : object
        Value that was refused.
    expected : str
        Description of the values that are accepted.
    sentence : str, optional
        Message in place of the default one, which is made of field, value and expected.

    See Also
    --------
    UnknownError : A name or number that does not exist.
    ConflictError : A valid value that conflicts with what was recorded before.

    Examples
    --------
    >>> print(InputError("gamma", 1.5, "a number in (0, 1]"))
    gamma: got 1.5, expected a number in (0, 1]
    >>> print(InputError("n_patients", None, "the number of patients", "this policy needs n_patients=…"))
    this policy needs n_patients=…

    """

    def __init__(self, field: str, value: object, expected: str, sentence: str = "") -> None:
        self.field, self.value, self.expected = field, value, expected
        self.sentence = sentence or f"{field}: got {short(value)}, expected {expected}"
        super().__init__(self.sentence)

    def __reduce__(self) -> tuple[Any, ...]:
        # Pickled without calling the constructor, since subclasses may have other arguments.
        return type(self).__new__, (type(self), *self.args), vars(self)

    def within(self, where: str) -> InputError:
        """Return the same error, with the name of the object that it is about in front."""
        return InputError(f"{where}, {self.field}", self.value, self.expected, f"{where}: {self.sentence}")


def short(value: object, limit: int = 120) -> str:
    """Return a value as shown in an error message: text in quotation marks, shortened if it is long."""
    text = value if isinstance(value, str) else repr(value)
    text = text if len(text) <= limit else text[: limit - 1] + "…"
    return repr(text) if isinstance(value, str) else text


def nearest(word: str, known: Iterable[str], *, complete: bool = False) -> str:
    """Return the known words, and the nearest one as a hint, for the end of an error message.

    The list ends after ten words, unless it must be `complete`.

    >>> nearest("tompson", ["thompson", "uniform"])
    "one of thompson, uniform (did you mean 'thompson'?)"
    """
    names = list(known)
    by_small_letters = {name.lower(): name for name in names}
    close = get_close_matches(word.strip().lower(), by_small_letters, n=1)
    hint = f" (did you mean '{by_small_letters[close[0]]}'?)" if close else ""
    return f"one of {', '.join(names) if complete else listed(names)}{hint}"


def listed(names: Iterable[str]) -> str:
    """Return the first ten names, and the number of further ones; names are quoted if one contains a comma.

    >>> listed(["null, compliance 70%", "effect 0.1"])
    "'null, compliance 70%', 'effect 0.1'"
    >>> listed(f"arm {number}" for number in range(12))
    'arm 0, arm 1, arm 2, arm 3, arm 4, arm 5, arm 6, arm 7, arm 8, arm 9 and 2 more'
    """
    every = quoted(names)
    more = f" and {len(every) - _MOST_LISTED} more" if len(every) > _MOST_LISTED else ""
    return f"{', '.join(every[:_MOST_LISTED])}{more}"


def quoted(names: Iterable[str]) -> list[str]:
    """Return all names, in quotation marks if one contains a comma.

    >>> quoted(["gum, mint", "none"])
    ["'gum, mint'", "'none'"]
    """
    every = list(names)
    return [f"'{name}'" for name in every] if any("," in name for name in every) else every


def joined(words: Iterable[str], last: str = "and") -> str:
    """Join words as in a sentence: with commas between them, and `last` before the last word.

    >>> joined(["EXP3", "UCB1", "Thompson"]), joined(["walk", "aspirin"], "or"), joined([])
    ('EXP3, UCB1 and Thompson', 'walk or aspirin', '')
    """
    *others, final = [*words] or [""]
    return f"{', '.join(others)} {last} {final}" if others else final


class UnknownError(InputError):
    """Error for a name or number that does not exist, or that the caller may not see.

    Parameters
    ----------
    field : str
        Field that the value was given for.
    value : object
        Value that was refused.
    expected : str
        Description of the values that are accepted.
    sentence : str, optional
        Message in place of the default one, which is made of field, value and expected.

    See Also
    --------
    InputError : Its base class, for any value that cannot be used.

    Examples
    --------
    >>> print(UnknownError("trial", "headaches", "the name of a trial"))
    trial: got 'headaches', expected the name of a trial

    """


class ConflictError(InputError):
    """Error for a valid value that conflicts with what was recorded before.

    Parameters
    ----------
    field : str
        Field that the value was given for.
    value : object
        Value that was refused.
    expected : str
        Description of the values that are accepted.
    sentence : str, optional
        Message in place of the default one, which is made of field, value and expected.
    recommendation_id : str, optional
        ID of the recommendation that the value conflicts with.

    See Also
    --------
    InputError : Its base class, for values that are never valid.

    Examples
    --------
    >>> from adhere import ConflictError, Trial
    >>> trial = Trial("thompson", ["walk", "aspirin"], seed=1)
    >>> recommendation = trial.recommend()
    >>> trial.report(recommendation.id, reward=1)
    >>> try:
    ...     trial.report(recommendation.id, reward=0)
    ... except ConflictError as error:
    ...     print(error.field)
    reward

    """

    def __init__(
        self, field: str, value: object, expected: str, sentence: str = "", recommendation_id: str | None = None
    ) -> None:
        super().__init__(field, value, expected, sentence)
        self.recommendation_id = recommendation_id


class SourceError(InputError):
    """A mistake in a user's Python file: its location, and the reason.

    >>> print(SourceError("softmax.py line 23", "name 'x' is not defined"))
    softmax.py line 23: name 'x' is not defined
    """

    def __init__(self, place: str, reason: str) -> None:
        super().__init__(place, None, reason, f"{place}: {reason}")


class CompileError(SourceError):
    """A policy whose code does not compile."""


class PolicyError(SourceError):
    """Error in a policy whose code fails while it runs.

    Parameters
    ----------
    policy : str
        Text of the policy.
    place : str
        File and line that failed; empty if they are unknown.
    reason : str
        Kind and message of the exception.
    kind : str
        Kind of the exception that the code raised.

    See Also
    --------
    check_policies : Find such errors before a trial.

    Examples
    --------
    >>> print(PolicyError("mine", "mine.py line 23", "ValueError: too late", "ValueError"))
    mine failed at mine.py line 23: ValueError: too late

    """

    def __init__(self, policy: str, place: str, reason: str, kind: str) -> None:
        super().__init__(place, reason)
        self.policy, self.kind = policy, kind
        self.sentence = f"{policy} failed{f' at {place}' if place else ''}: {reason}"
        self.args = (self.sentence,)


class UnavailableError(Exception):
    """A temporary lack of a resource (memory, open files, compiled code). Nothing was done; trying again may
    succeed.
    """


class UnknownPolicyError(UnavailableError):
    """A trial whose policy cannot be made on this server: the operator, not the caller, must correct this."""


class SecretUnknownError(UnavailableError):
    """A trial's secret is missing, or differs from the one that was committed to, so that no arm can be drawn."""


class StoreError(Exception):
    """A store that cannot be opened, read or written; the message is one sentence."""


class StoreUnavailableError(StoreError):
    """A store that cannot be opened, read or written at present; the same call may succeed later."""


class StoreBusyError(StoreUnavailableError):
    """A store that another writer has locked, so that no transaction was begun: the caller did not want to wait."""


class FileInUseError(StoreUnavailableError):
    """A file of trials that another process writes to; `instead` tells how to ask that process if it is a service."""

    def __init__(self, path: str, instead: str = "adhere token make --server URL") -> None:
        super().__init__(
            f"{path} is being written by another process. One process writes to a SQLite file at a time: stop that "
            f"one, ask it if it is the service ({instead}), or let several serve from PostgreSQL (--database-url)."
        )


class DamagedStoreError(StoreError):
    """A file of trials in which the database itself detects damage."""


class RecordsLostError(StoreError):
    """A file of trials without records that were acknowledged: `n_lost` of them, or None if the number is unknown."""

    def __init__(self, path: str, n_lost: int | None) -> None:
        self.n_lost = n_lost
        name = path.replace("\\", "/").rpartition("/")[2]
        if n_lost is None:
            found = (
                f"{path} was not closed, and {name}-progress is missing or damaged, so that nobody can tell whether "
                "its last records are there. Put that file back"
            )
        else:
            found = (
                f"{path} has {n_lost} {'record' if n_lost == 1 else 'records'} fewer than were acknowledged: "
                f"{name}-wal was deleted or cut off, or an older copy was put in its place. Put the right files back"
            )
        super().__init__(
            f"{found}, or restore a backup; to go on without what is lost: adhere trial accept-loss {path} --reason …"
        )


class OutcomeUnknownError(StoreError):
    """A store that failed during a commit, so that it is unknown whether the data were written.

    The same command with the same request ID finds out, and writes the data if they are missing.
    """
