"""What commands name: the request ids, recommendations and subjects to look up, and a digest of what they say."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from operator import attrgetter
from typing import Any, TypeVar

import msgspec

from adhere.checks import check_text
from adhere.design.arms import TOOK_OTHER
from adhere.errors import ConflictError, InputError, SecretUnknownError
from adhere.store import ReadTransaction, Subject
from adhere.trial.domain.chain import commitment
from adhere.trial.domain.commands import Command, Erase
from adhere.trial.domain.events import AnyEvent, Corrected, Reported
from adhere.trial.domain.recommendations import search_index
from adhere.trial.secret.random_bytes import random_bytes
from adhere.trial.secret.trial_keys import TrialKeys
from adhere.trial.verbs.context import find_history
from adhere.trial.writing.transaction import TrialTransaction

CommandKind = TypeVar("CommandKind", bound=Command)
new_salt = partial(random_bytes, 16)
_encode = msgspec.json.Encoder(enc_hook=repr).encode


def pseudonym_of(command: Any) -> str:
    """A subject's pseudonym: each site numbers its own subjects."""
    return _pseudonym(command.site, command.subject)


@lru_cache(256)  # each is asked for twice in a row
def _pseudonym(site: str | None, subject: str) -> str:
    known = check_text("site", site) if site else ""
    if "/" in known:  # or two sites could name the same person
        raise InputError("site", known, "a name without a slash")
    return f"{known}/{check_text('subject', subject)}"


def new_subject(pseudonym: str) -> Subject:
    """A person that is not known yet, with a key that reveals nothing once the salt is deleted."""
    salt = new_salt()
    return Subject(pseudonym, commitment(salt, pseudonym), salt)


def by_trial(commands: Sequence[CommandKind]) -> dict[str, list[CommandKind]]:
    """The commands on each trial."""
    found: dict[str, list[CommandKind]] = {}
    for command in commands:
        found.setdefault(command.trial, []).append(command)
    return found


def needed(
    view: ReadTransaction, trial: int, commands: Sequence[Command], keys: TrialKeys
) -> tuple[list[str], list[int], list[str]]:
    """The request ids, indices of recommendations and pseudonyms to look up for some commands on a trial."""
    request_ids = {command.request_id for command in commands} - {""}
    indices: set[int] = set()
    pseudonyms: set[str] = set()
    for command in commands:
        if (recommendation_id := getattr(command, "recommendation_id", None)) is not None:
            try:
                index = keys.ids.index_of(recommendation_id)
            except SecretUnknownError:  # outcomes of patients who were treated are still taken
                index = search_index(view, trial, recommendation_id)
            if index is not None:
                indices.add(index)
        if command.names_subject:
            with suppress(InputError):  # which is reported when the command is executed
                pseudonyms.add(pseudonym_of(command))
    return sorted(request_ids), sorted(indices), sorted(pseudonyms)


def subject_of(transaction: TrialTransaction, command: Command) -> Subject | None:
    """The subject a command names; a new one for the first recommendation."""
    if not command.names_subject:
        return None
    pseudonym = pseudonym_of(command)
    known = transaction.subject(pseudonym)
    if known is not None or isinstance(command, Erase):
        return known
    return new_subject(pseudonym)


def check_subject(transaction: TrialTransaction, command: Any) -> None:
    """Refuse what is said of another subject than the one it names, as after an older backup was restored."""
    if command.subject is None:
        return
    history = find_history(transaction.state, command.recommendation_id, command.site)
    subject = check_text("subject", command.subject)
    if not transaction.is_made_for(history.recommendation_index, f"{history.site}/{subject}"):
        sentence = f"recommendation {command.recommendation_id} is not for subject {subject!r}"
        raise ConflictError("subject", subject, "the subject whom the recommendation was made for", sentence)


def digest_of(command: Command, subject: Subject | None) -> str:
    """A digest of what a command says, with the subject's key for the pseudonym."""
    kind = type(command)
    content = (kind.__name__, _said(kind)(command), subject and subject.key)
    return hashlib.sha256(_encode(content)).hexdigest()[:32]


def same_text(transaction: TrialTransaction, command: Command, event: AnyEvent) -> bool:
    """Whether a command has the free text of an event, as far as that is known: its digest does not cover it."""
    text: str | None = getattr(command, "took_other", None)
    if isinstance(event, Reported | Corrected) and (event.actual == TOOK_OTHER) != (text is not None):
        return False
    known = transaction.text_of(event.position) if getattr(event, "text", "") else None
    return known is None or known == text


@lru_cache
def _said(kind: type[Command]) -> Callable[[Command], tuple[object, ...]]:
    """Return a function that takes the fields for the digest out of a command."""
    apart = ("trial", "request_id", "by", *kind.private)
    names = [name for name in kind.__struct_fields__ if name not in apart]
    return attrgetter(*names) if len(names) > 1 else lambda command: tuple(getattr(command, name) for name in names)
