"""The command processor: many commands at a time, each trial in turn, all in one transaction.

What holds for every command is here, once: the same request id gets the same response, another command under it is
refused and the refusal recorded, a closed trial accepts nothing that changes it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import cast

from adhere.checks import MAX_NAME_LENGTH, check_text
from adhere.design.design import Design
from adhere.errors import ConflictError, InputError, UnavailableError, UnknownError, nearest
from adhere.store import ReadTransaction, Store, Subject, WriteTransaction
from adhere.trial.domain.commands import (
    AnyCommand,
    ChangeStatus,
    Command,
    Correct,
    Erase,
    Examined,
    ImputeMissing,
    Look,
    MarkInError,
    Receipt,
    Recommend,
    RecommendationResponse,
    Report,
    Response,
    Unblind,
    UnblindingResponse,
    Withdraw,
)
from adhere.trial.domain.events import AnyEvent, Conflicted, created_event
from adhere.trial.domain.looker import looker_of
from adhere.trial.policy.engine import engine_of
from adhere.trial.verbs import DECIDE
from adhere.trial.verbs.context import Change, Context, find_history, needed_recommendations
from adhere.trial.verbs.entries import entries_to_load
from adhere.trial.verbs.impute_missing import due, next_batch
from adhere.trial.writing.creation import WHY_NO_SEED, check_seed_of, create_trial
from adhere.trial.writing.epochs import begin_epochs_after_restore
from adhere.trial.writing.lookups import by_trial, check_subject, digest_of, needed, new_salt, same_text, subject_of
from adhere.trial.writing.preparing import TransactionAhead, derive_caches
from adhere.trial.writing.relearning import Relearned
from adhere.trial.writing.snapshot import usable_snapshot
from adhere.trial.writing.transaction import LiveTrial, TrialTransaction

# As tuples: `isinstance` would make a union type anew at each command.
_USES_POLICY = (Recommend, Report, Correct, MarkInError, ImputeMissing, Look)
_REPORTS = (Report, Correct, MarkInError)
_REPLACES_IMPUTED = (Report, MarkInError)
_ABOUT_ONE = (Report, Correct, Withdraw, MarkInError)
_ABOUT_ROUNDS = (Recommend, Correct)
_QUICK = (Recommend, Report, Correct, Withdraw, MarkInError, ChangeStatus)


def utc_now() -> datetime:
    """The time by this machine's clock."""
    return datetime.now(UTC)


class CommandProcessor:
    """Live trials in a store.

    `execute` responds to commands once their events are durable. Threads may call it at the same time, and, if the
    store allows, processes; the store serialises the writes to one trial. `on_events` is called with the name of a
    trial and its events of a transaction, after its commit.
    """

    def __init__(
        self,
        store: Store,
        now: Callable[[], datetime] = utc_now,
        on_events: Callable[[str, Sequence[AnyEvent]], None] = lambda trial, events: None,
    ) -> None:
        self.store = store
        self._now, self._on_events = now, on_events
        self._trials: dict[str, LiveTrial] = {}
        self._lock = threading.Lock()
        begin_epochs_after_restore(store, now())

    def create(
        self, design: Design, *, seed: int | None = None, by: str = "", secret: bytes | None = None
    ) -> Receipt:
        """Create a trial. The same design again is acknowledged; another one under the same name is refused.

        It gets a secret that cannot be guessed; tests may give one. A rehearsal may have a seed instead.
        """
        check_seed_of(design, seed)
        engine_of(design).load()  # before the transaction: it may take seconds, or refuse the policy
        with self._lock, self.store.writing() as writing:
            writing.wait_turn()  # or another process may create it after the next line has looked
            if (number := writing.trials().get(design.name)) is not None:
                created = created_event(writing, number)
                if created.design != design or seed not in (None, created.seed):
                    other = "of another design" if created.design != design else "with another seed"
                    sentence = f"there is a trial {design.name!r} {other} already; choose another name"
                    raise ConflictError("name", design.name, "a name that no other trial has", sentence)
                return Receipt(created.at, record=1)
            at = self._now()
            create_trial(writing, design, at, by, seed=seed, secret=secret).finish()
        return Receipt(at, record=1)

    def execute(
        self, commands: Sequence[AnyCommand], *, waits: bool = True
    ) -> list[Response | InputError | UnavailableError]:
        """A response to each command, or why it was refused, in their order.

        Raises a `StoreError` if the transaction failed, or an `UnavailableError` if the machine was short of
        something in the middle of it: nothing was written; an `OutcomeUnknownError` if it failed so late that this is
        not known. If `waits` is false, it raises a `StoreBusyError` before anything is done where another thread or
        program has locked the store.
        """
        responses: list[Response | InputError | UnavailableError] = []
        if self.store.was_restored:  # while it was in use, as a PostgreSQL that was set back
            begin_epochs_after_restore(self.store, self._now())
        with self._lock, self.store.writing(waits=waits) as writing:
            trials = self._transactions(writing, commands)
            for command in commands:
                trial = trials[command.trial]
                if not isinstance(trial, TrialTransaction):
                    responses.append(trial)
                elif not trial.is_ready and (why := _why_unavailable(trial, command)) is not None:
                    responses.append(why)
                else:
                    try:
                        responses.append(self._execute_one(trial, command))
                    except InputError as error:
                        responses.append(error)
            transactions = [trial for trial in trials.values() if isinstance(trial, TrialTransaction)]
            for transaction in transactions:
                transaction.finish()
        for transaction in transactions:
            transaction.committed()
            self._on_events(transaction.state.design.name, transaction.events)
        return responses

    def _transactions(
        self, writing: WriteTransaction, commands: Sequence[Command]
    ) -> dict[str, TrialTransaction | InputError | UnavailableError]:
        """The trials that commands name, locked and with what the commands will need."""
        commands_on = by_trial(commands)
        trials: dict[str, TrialTransaction | InputError | UnavailableError] = {}
        known: list[LiveTrial] = []
        for name in commands_on:
            try:
                known.append(self._live(writing, name))
            except (InputError, UnavailableError) as error:
                trials[name] = error
        # Always in the same order, so that two processes cannot deadlock.
        known.sort(key=lambda live: live.number)
        asked = [needed(writing, live.number, commands_on[live.design.name], live.engine.keys) for live in known]
        fetches = [writing.lock_and_fetch(live.number, *keys) for live, keys in zip(known, asked, strict=True)]
        for live, fetch in zip(known, fetches, strict=True):
            trials[live.design.name] = TrialTransaction(writing, live, *fetch())
        return trials

    def _execute_one(self, transaction: TrialTransaction, command: AnyCommand) -> Response:
        if command.request_id:
            check_text("request id", command.request_id, 2 * MAX_NAME_LENGTH + 1)  # site / id
        subject = subject_of(transaction, command)
        digest = digest_of(command, subject)
        at = self._now()
        if transaction.is_live and transaction.state.looks is not None and transaction.engine.is_loaded:
            transaction.look(at)  # those by day whose day is over, before anything of a later day counts
        event = known = transaction.recorded(command.request_id)
        if event is None:
            if not transaction.is_live:
                raise _not_live(transaction.state.design.name)
            if transaction.state.status == "closed" and not command.when_closed:
                name = transaction.state.design.name
                sentence = f"trial {name!r} is closed: it has ended, and nothing more can be recorded"
                raise ConflictError("trial", name, "a trial that is not closed", sentence)
            if needed_ids := needed_recommendations(transaction.state, command, transaction.kits):
                transaction.load(needed_ids)
            if isinstance(command, _ABOUT_ONE):
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
            latest = _load_entries(transaction, command, subject) if isinstance(command, _ABOUT_ROUNDS) else None
            lookups = new_salt, transaction.text_of, transaction.is_erased
            context = Context(command, at, digest, *lookups, transaction.kits, subject, latest, alike)
            if isinstance(command, ImputeMissing):
                return self._impute(transaction, command, context)
            if isinstance(command, Look):  # which were made before
                return Receipt(at, transaction.state.position)
            for change in DECIDE[type(command)](transaction.state, command, context):
                event = transaction.append(change)
        elif event.digest != digest or not same_text(transaction, command, event):
            position = transaction.state.position + 1
            header = {"by": command.by, "request_id": command.request_id}
            transaction.append(
                Change(Conflicted(position=position, at=at, **header, of=event.position, asked=digest))
            )
            sentence = "this Idempotency-Key (request id) was used before for another request; use a new one"
            raise ConflictError("request id", command.request_id, "an id that was not used before", sentence)
        assert event is not None
        return _respond(transaction, command, event, is_repeated=event is known)

    def _impute(self, transaction: TrialTransaction, command: ImputeMissing, context: Context) -> Examined:
        """Go through the next recommendations; the response names the one to go on with, if more may be due."""
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

    def is_quick(self, command: AnyCommand) -> bool:
        """Whether a command, prepared or in no need of it, takes no longer than a commit: no lock to wait for."""
        live = self._trials.get(command.trial)
        return live is not None and live.engine.is_loaded and not self.store.shared and isinstance(command, _QUICK)

    def needs_preparation(self, command: AnyCommand) -> bool:
        """Whether a command may have to load, derive or relearn something, which `prepare` does ahead."""
        live = self._trials.get(command.trial)
        if live is None or not live.is_ready:
            return True
        if isinstance(command, _REPLACES_IMPUTED) and live.design.impute is not None:
            return bool(live.n_examined)
        return isinstance(command, Correct)

    def is_ready(self, trial: str) -> bool:
        """Whether a trial's policy is loaded and its caches are derived; until then `prepare` may take seconds."""
        live = self._trials.get(trial)
        return live is not None and live.is_ready

    def prepare(self, commands: Sequence[AnyCommand]) -> None:
        """Do ahead, while others write, what some commands would take long for in their transaction.

        Whatever cannot be done now is left to `execute`, which tells why.
        """
        for name, own in by_trial(commands).items():
            with suppress(InputError, UnavailableError):
                live = self.trial(name)
                self.make_ready(live)
                live.relearned = self._learn_ahead(
                    live, [command for command in own if isinstance(command, _REPORTS)]
                )

    def make_ready(self, live: LiveTrial) -> None:
        """Load a trial's policy, and derive its caches where there are none of this version."""
        live.engine.ensure_loaded()
        if (looker := looker_of(live.design, live.engine)) is not None and looker.plan.prescribes:
            live.engine.load_allocation()
        derive_caches(self.store, live)

    def _learn_ahead(self, live: LiveTrial, commands: Sequence[AnyCommand]) -> Relearned | None:
        if not commands:
            return None
        with self.store.reading() as view:
            head, fetched = view.fetch(live.number, *needed(view, live.number, commands, live.engine.keys))()
            if usable_snapshot(live.engine, head) is None:
                return None
            transaction = TransactionAhead(cast(WriteTransaction, view), live, head, fetched)  # which writes nothing
            for command in commands:
                with suppress(InputError):  # which `execute` will report
                    self._execute_one(transaction, command)
            return transaction.learn_ahead()

    def known(self, name: str) -> LiveTrial | None:
        """A trial that this process has seen, without a look into the store; None if it would take one."""
        live = self._trials.get(name)
        return live if live is not None and (live.kits.usable or not live.design.blinded) else None

    def trial(self, name: str) -> LiveTrial:
        """A trial by its name."""
        if name in self._trials:
            return self._known(name)
        with self.store.reading() as view:
            return self._live(view, name)

    def _live(self, view: ReadTransaction, name: str) -> LiveTrial:
        if name not in self._trials:
            numbers = view.trials()
            if name not in numbers:
                raise UnknownError("trial", name, nearest(name, numbers) if numbers else "a trial; there is none yet")
            number = numbers[name]
            created = created_event(view, number)
            engine = created.recorded_engine(self._find_secret)
            kits = engine.keys.kits(name, blinded=created.design.blinded)
            live = LiveTrial(number, created.design, engine, kits, is_live=created.is_live)
            self._trials.setdefault(name, live)  # another thread may have been first
        return self._known(name)

    def _known(self, name: str) -> LiveTrial:
        live = self._trials[name]
        if live.design.blinded and not live.kits.usable:  # its secret may have been put back
            live.kits = live.engine.keys.kits(name, blinded=True)
        return live

    def _find_secret(self, commitment: str) -> bytes | None:
        """A secret of an epoch, which another process may have begun."""
        with self.store.reading() as view:
            return view.secret(commitment)


def _not_live(name: str) -> ConflictError:
    """The refusal of a trial that was saved from memory, and brought in to be read."""
    sentence = f"trial {name!r} cannot go on live: it was run in memory with a seed, and {WHY_NO_SEED}"
    return ConflictError("trial", name, "a trial that was created live", sentence)


def _why_unavailable(trial: TrialTransaction, command: AnyCommand) -> UnavailableError | None:
    """Why a policy or a secret that a command needs is missing, seen before it appends anything: the others go on."""
    engine, state = trial.engine, trial.state
    try:
        if not engine.is_loaded and isinstance(command, _USES_POLICY):
            engine.ensure_loaded()
        if state.status == "closed":  # in which case no secret is needed to refuse it
            return None
        if isinstance(command, Recommend):
            engine.keys.check(state.epoch)
            engine.keys.check(engine.keys.commitment)  # which masks the index in its ID
    except UnavailableError as error:
        return error
    return None


def _load_alike(transaction: TrialTransaction, subject: Subject | None) -> int | None:
    """Load the latest recommendation of a subject who looks like a new one, and return its index, or None."""
    if subject is None or subject.latest is not None:
        return None
    if (alike := transaction.latest_alike(subject)) is not None:
        transaction.load([alike])
    return alike


def _load_entries(transaction: TrialTransaction, command: AnyCommand, subject: Subject | None) -> int | None:
    """Load the recommendations of a subject that decide on another round; return the index of the latest one."""
    latest = None if subject is None else subject.latest
    if isinstance(command, Correct) and command.retract and not transaction.state.design.repeats:
        with suppress(InputError):  # which `decide` will report
            history = find_history(transaction.state, command.recommendation_id, command.site)
            latest = transaction.latest_of(history.subject)
    while missing := entries_to_load(transaction.state, latest):
        transaction.load(missing)
    return latest


def _respond(
    transaction: TrialTransaction, command: Command, event: AnyEvent, *, is_repeated: bool = False
) -> Response:
    """The response to a command: the recommendation, or when and where the command is recorded."""
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
        assert kit is not None  # since only a kit of a blinded trial can be unblinded
        return UnblindingResponse(recommendation_id, arm, kit, event.at, is_repeated)
    entered_at = stratum = None
    if history.stratum is not None and (entered := design.strata[history.stratum]) != command.stratum:
        entered_at, stratum = history.at, entered
    return RecommendationResponse(recommendation_id, None if design.blinded else arm, kit, entered_at, stratum)
