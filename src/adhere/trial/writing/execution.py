"""Execute one command within a transaction.

Rules for all commands are implemented here. The same request ID gets the same response. Another command under that ID
is refused, and the refusal recorded. A closed trial accepts no command that changes it.
"""

import hashlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from functools import lru_cache, partial
from operator import attrgetter

import msgspec

from adhere.checks import MAX_NAME_LENGTH, check_text
from adhere.design.arms import TOOK_OTHER
from adhere.errors import ConflictError, InputError, SecretUnknownError, UnavailableError
from adhere.store import ReadTransaction, Subject
from adhere.trial.domain.commands import (
    ACCEPTED_WHEN_CLOSED,
    NAME_SUBJECT,
    NEED_POLICY,
    AboutRecommendation,
    AnyCommand,
    Command,
    Correct,
    Erase,
    Examined,
    ImputeMissing,
    Look,
    Receipt,
    Recommend,
    RecommendationResponse,
    Response,
    Unblind,
    UnblindingResponse,
)
from adhere.trial.domain.events import AnyEvent, Conflicted, Corrected, Reported
from adhere.trial.domain.log_records import commitment, search_index
from adhere.trial.secret.recommendation_ids import random_bytes
from adhere.trial.secret.trial_keys import TrialKeys
from adhere.trial.verbs import DECIDE
from adhere.trial.verbs.context import Change, Context, find_history, needed_recommendations
from adhere.trial.verbs.entries import entries_to_load
from adhere.trial.verbs.impute_missing import due, next_batch
from adhere.trial.writing.creation import WHY_NO_SEED
from adhere.trial.writing.transaction import TrialTransaction

_ABOUT_ENTRIES = (Recommend, Correct)  # a tuple: `isinstance` would build a union type again for each command
new_salt = partial(random_bytes, 16)
_encode = msgspec.json.Encoder(enc_hook=repr).encode


@lru_cache(256)  # each is requested twice in succession
def pseudonym_of(site: str | None, subject: str) -> str:
    """Return a subject's pseudonym. It includes the site, because each site numbers its own subjects."""
    known = check_text("site", site) if site else ""
    if "/" in known:  # otherwise two sites could name the same person
        raise InputError("site", known, "a name without a slash")
    return f"{known}/{check_text('subject', subject)}"


def new_subject(pseudonym: str) -> Subject:
    """Return a new subject with a key that reveals nothing once the salt is deleted."""
    salt = new_salt()
    return Subject(pseudonym, commitment(salt, pseudonym), salt)


def needed(
    view: ReadTransaction, trial: int, commands: Sequence[Command], keys: TrialKeys
) -> tuple[list[str], list[int], list[str]]:
    """Return the request IDs, recommendation indices and pseudonyms to look up for some commands on a trial."""
    request_ids = {command.request_id for command in commands} - {""}
    indices: set[int] = set()
    pseudonyms: set[str] = set()
    for command in commands:
        if (recommendation_id := getattr(command, "recommendation_id", None)) is not None:
            try:
                index = keys.ids.index_of(recommendation_id)
            except SecretUnknownError:  # outcomes of treated patients are still accepted
                index = search_index(view, trial, recommendation_id)
            if index is not None:
                indices.add(index)
        if isinstance(command, NAME_SUBJECT):
            with suppress(InputError):  # reported when the command is executed
                pseudonyms.add(pseudonym_of(command.site, command.subject))
    return sorted(request_ids), sorted(indices), sorted(pseudonyms)


def subject_of(transaction: TrialTransaction, command: Command) -> Subject | None:
    """Return the subject that a command names. A subject's first recommendation creates it."""
    if not isinstance(command, NAME_SUBJECT):
        return None
    pseudonym = pseudonym_of(command.site, command.subject)
    known = transaction.subject(pseudonym)
    return known if known is not None or isinstance(command, Erase) else new_subject(pseudonym)


def check_subject(transaction: TrialTransaction, command: AboutRecommendation) -> None:
    """Refuse a command that names another subject than its recommendation, as can happen after a restore."""
    if command.subject is None:
        return
    history = find_history(transaction.state, command.recommendation_id, command.site)
    subject = check_text("subject", command.subject)
    if not transaction.is_made_for(history.recommendation_index, f"{history.site}/{subject}"):
        sentence = f"recommendation {command.recommendation_id} is not for subject {subject!r}"
        raise ConflictError("subject", subject, "the subject whom the recommendation was made for", sentence)


def digest_of(command: Command, subject: Subject | None) -> str:
    """Return a digest of a command's content. The subject's key replaces the pseudonym."""
    kind = type(command)
    content = (kind.__name__, _said(kind)(command), subject and subject.key)
    return hashlib.sha256(_encode(content)).hexdigest()[:32]


def same_text(transaction: TrialTransaction, command: Command, event: AnyEvent) -> bool:
    """Return whether a command has the same free text as an event, if the text is known. The digest of a command does
    not cover its free text.
    """
    text: str | None = getattr(command, "took_other", None)
    if isinstance(event, Reported | Corrected) and (event.actual == TOOK_OTHER) != (text is not None):
        return False
    known = transaction.text_of(event.position) if getattr(event, "text", "") else None
    return known is None or known == text


@lru_cache
def _said(kind: type[Command]) -> Callable[[Command], tuple[object, ...]]:
    """Return a function that extracts the fields for the digest from a command."""
    apart = ("trial", "request_id", "by", *kind.private)
    names = [name for name in kind.__struct_fields__ if name not in apart]
    return attrgetter(*names) if len(names) > 1 else lambda command: tuple(getattr(command, name) for name in names)


def execute(transaction: TrialTransaction, command: AnyCommand, at: datetime) -> Response:
    """Execute a command at a given time. Raise `InputError` if it is refused."""
    if command.request_id:
        check_text("request id", command.request_id, 2 * MAX_NAME_LENGTH + 1)  # site / id
    subject = subject_of(transaction, command)
    digest = digest_of(command, subject)
    if transaction.is_live and transaction.state.looks is not None and transaction.engine.is_loaded:
        transaction.look(at)  # looks by day that are due come before any event of a later day
    event = known = transaction.recorded(command.request_id)
    if event is None:
        name = transaction.state.design.name
        if not transaction.is_live:  # a trial saved from memory and imported for reading
            sentence = f"trial {name!r} cannot continue live: it was run in memory with a seed, and {WHY_NO_SEED}"
            raise ConflictError("trial", name, "a trial that was created live", sentence)
        if transaction.state.status == "closed" and not isinstance(command, ACCEPTED_WHEN_CLOSED):
            sentence = f"trial {name!r} is closed: it has ended, and nothing more can be recorded"
            raise ConflictError("trial", name, "a trial that is not closed", sentence)
        if needed_ids := needed_recommendations(transaction.state, command, transaction.kits):
            transaction.load(needed_ids)
        if isinstance(command, AboutRecommendation):
            check_subject(transaction, command)
        alike = None
        if isinstance(command, Recommend):
            transaction.catch_up()
            if transaction.has_lost_records:
                transaction.begin_epoch(at, "the database is older than what this service had written to it")
            if command.refuse_alike:
                alike = _load_alike(transaction, subject)
        if isinstance(command, Erase):  # once erased, the subject's key must not be derivable from the log
            digest = digest_of(command, None)
        latest = _load_entries(transaction, command, subject)
        lookups = new_salt, transaction.text_of, transaction.is_erased
        context = Context(command, at, digest, *lookups, transaction.kits, subject, latest, alike)
        if isinstance(command, ImputeMissing):
            return _impute(transaction, command, context)
        if isinstance(command, Look):  # the looks were made above
            return Receipt(at, transaction.state.position)
        for change in DECIDE[type(command)](transaction.state, command, context):
            event = transaction.append(change)
    elif event.digest != digest or not same_text(transaction, command, event):
        position = transaction.state.position + 1
        header = {"by": command.by, "request_id": command.request_id}
        transaction.append(Change(Conflicted(position=position, at=at, **header, of=event.position, asked=digest)))
        sentence = "this Idempotency-Key (request id) was used before for another request; use a new one"
        raise ConflictError("request id", command.request_id, "an id that was not used before", sentence)
    assert event is not None
    return _respond(transaction, command, event, is_repeated=event is known)


def _impute(transaction: TrialTransaction, command: ImputeMissing, context: Context) -> Examined:
    """Apply the rule for missing reports to the next recommendations. If more recommendations are left, the response
    has the index to continue from.
    """
    if transaction.state.design.impute is None:
        return Examined()
    batch = next_batch(transaction.state)
    transaction.load(batch)
    ready = due(transaction.state, context.at)
    for change in DECIDE[ImputeMissing](transaction.state, command, context):
        transaction.append(change)
    transaction.mark_examined(ready)
    more = len(ready) == len(batch) > 0
    return Examined(ready.stop if more else None)


def why_unavailable(trial: TrialTransaction, command: AnyCommand) -> UnavailableError | None:
    """Return an error if a policy or secret that a command needs is missing.

    This is checked before the command appends anything, so that other commands can go on.
    """
    engine, state = trial.engine, trial.state
    try:
        if isinstance(command, NEED_POLICY):
            engine.ensure_loaded()
        if state.status == "closed":  # a refusal needs no secret
            return None
        if isinstance(command, Recommend):
            engine.keys.check(state.epoch)
            engine.keys.check(engine.keys.commitment)  # it masks the index in the ID
    except UnavailableError as error:
        return error
    return None


def _load_alike(transaction: TrialTransaction, subject: Subject | None) -> int | None:
    """Load the latest recommendation of a subject whose code resembles a new one's. Return its index, or None."""
    if subject is None or subject.latest is not None:
        return None
    if (alike := transaction.latest_alike(subject)) is not None:
        transaction.load([alike])
    return alike


def _load_entries(transaction: TrialTransaction, command: AnyCommand, subject: Subject | None) -> int | None:
    """Load the recommendations that decide whether a subject may have another round. Return the index of the latest
    recommendation.
    """
    if not isinstance(command, _ABOUT_ENTRIES):
        return None
    latest = None if subject is None else subject.latest
    if isinstance(command, Correct) and command.retract and not transaction.state.design.repeats:
        with suppress(InputError):  # `decide` will report it
            history = find_history(transaction.state, command.recommendation_id, command.site)
            latest = transaction.latest_of(history.subject)
    while missing := entries_to_load(transaction.state, latest):
        transaction.load(missing)
    return latest


def _respond(transaction: TrialTransaction, command: Command, event: AnyEvent, *, is_repeated: bool) -> Response:
    """Return the response to a command: the recommendation, or the time and position of its record."""
    index: int | None = getattr(event, "recommendation_index", None)
    recommendation_id = None
    if index is not None:
        if index not in transaction.state.histories:
            transaction.load([index])
        history = transaction.state.histories[index]
        recommendation_id = history.recommendation_id
    design = transaction.state.design
    if recommendation_id is None or not isinstance(command, Recommend | Unblind):
        return Receipt(event.at, event.position if command.site is None else None, recommendation_id)
    arm, kit = design.arms[history.chosen], None
    if design.blinded:
        kit = transaction.kits.code(history.epoch, history.recommendation_index)
    if isinstance(command, Unblind):
        assert kit is not None  # only kits of a blinded trial can be unblinded
        return UnblindingResponse(recommendation_id, arm, kit, event.at, is_repeated)
    entered_at = stratum = None
    if history.stratum is not None and (entered := design.strata[history.stratum]) != command.stratum:
        entered_at, stratum = history.at, entered
    return RecommendationResponse(recommendation_id, None if design.blinded else arm, kit, entered_at, stratum)
