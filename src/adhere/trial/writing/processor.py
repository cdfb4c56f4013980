"""Process many commands on several trials in one transaction.

`execution` implements the rules for all commands, and the verbs implement each command.
"""

import threading
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime

from adhere.design.design import Design
from adhere.errors import ConflictError, InputError, UnavailableError, UnknownError, nearest
from adhere.store import ReadTransaction, Store, WriteTransaction
from adhere.trial.domain.commands import QUICK, REPLACE_IMPUTED, AnyCommand, Command, Receipt, Response
from adhere.trial.domain.events import AnyEvent, created_event
from adhere.trial.domain.looker import looker_of
from adhere.trial.policy.engine import engine_of
from adhere.trial.writing.creation import begin_epochs_after_restore, check_seed_of, create_trial
from adhere.trial.writing.derive_caches import derive_caches
from adhere.trial.writing.execution import execute, needed, why_unavailable
from adhere.trial.writing.transaction import LiveTrial, TrialTransaction


def utc_now() -> datetime:
    """Return the current time of this machine's clock."""
    return datetime.now(UTC)


class CommandProcessor:
    """The live trials in a store.

    `execute` responds to commands once their events are durable. Threads may call it concurrently, and processes too
    if the store allows it; the store serialises writes to one trial. After each commit, `on_events` is called with
    the name of each trial and its new events.
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
        """Create a trial. A repeated design is acknowledged; another design under the same name is refused.

        The trial gets an unpredictable secret; tests can pass a secret of their own. A rehearsal may have a seed
        instead.
        """
        check_seed_of(design, seed)
        engine_of(design).load()  # before the transaction, because it may take seconds or refuse the policy
        with self._lock, self.store.writing() as writing:
            writing.wait_turn()  # otherwise another process may create it after the check below
            if (number := writing.trials().get(design.name)) is not None:
                created = created_event(writing, number)
                if created.design != design or seed not in (None, created.seed):
                    other = "of another design" if created.design != design else "with another seed"
                    sentence = f"trial {design.name!r} {other} already exists; choose another name"
                    raise ConflictError("name", design.name, "a name that no other trial has", sentence)
                return Receipt(created.at, record=1)
            at = self._now()
            create_trial(writing, design, at, by, seed=seed, secret=secret).finish()
        return Receipt(at, record=1)

    def execute(
        self, commands: Sequence[AnyCommand], *, waits: bool = True
    ) -> list[Response | InputError | UnavailableError]:
        """Return a response to each command in order, or the reason for its refusal.

        Raises `StoreError` if the transaction failed, and `UnavailableError` if the machine ran out of a resource
        meanwhile; in both cases nothing was written. Raises `OutcomeUnknownError` if the transaction failed too late
        to know whether it was written. If `waits` is false and another thread or program has locked the store, raises
        `StoreBusyError` at once.
        """
        responses: list[Response | InputError | UnavailableError] = []
        if self.store.was_restored:  # while it was in use, for example a PostgreSQL server that was restored
            begin_epochs_after_restore(self.store, self._now())
        with self._lock, self.store.writing(waits=waits) as writing:
            trials = self._transactions(writing, commands)
            for command in commands:
                trial = trials[command.trial]
                if not isinstance(trial, TrialTransaction):
                    responses.append(trial)
                elif not trial.is_ready and (why := why_unavailable(trial, command)) is not None:
                    responses.append(why)
                else:
                    try:
                        responses.append(execute(trial, command, self._now()))
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
        """Lock the trials that commands name, and fetch what the commands need."""
        commands_on: defaultdict[str, list[Command]] = defaultdict(list)
        for command in commands:
            commands_on[command.trial].append(command)
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

    def is_quick(self, command: AnyCommand) -> bool:
        """Return whether a command takes no longer than a commit: it waits for no lock and no relearning."""
        live = self._trials.get(command.trial)
        if live is None or not live.engine.is_loaded or self.store.shared:
            return False
        return isinstance(command, QUICK) and not (isinstance(command, REPLACE_IMPUTED) and live.n_examined)

    def is_ready(self, trial: str) -> bool:
        """Return whether a trial's policy is loaded and its caches derived. Until then `prepare` may take seconds."""
        live = self._trials.get(trial)
        return live is not None and live.is_ready

    def prepare(self, commands: Sequence[AnyCommand]) -> None:
        """Prepare the trials of some commands while others write, so that the commands' transaction stays short.

        If a step fails here, `execute` repeats it and reports the reason.
        """
        for name in {command.trial: None for command in commands}:
            with suppress(InputError, UnavailableError):
                self.make_ready(self.trial(name))

    def make_ready(self, live: LiveTrial) -> None:
        """Load a trial's policy, and derive its caches if this version has none."""
        live.engine.ensure_loaded()
        if (looker := looker_of(live.design, live.engine)) is not None and looker.plan.prescribes:
            live.engine.load_allocation()
        derive_caches(self.store, live)

    def known(self, name: str) -> LiveTrial | None:
        """Return a trial that this process has seen, or None if the store must be read."""
        live = self._trials.get(name)
        return live if live is not None and (live.kits.usable or not live.design.blinded) else None

    def trial(self, name: str) -> LiveTrial:
        """Return a trial by its name."""
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
        if live.design.blinded and not live.kits.usable:  # its secret may have been restored
            live.kits = live.engine.keys.kits(name, blinded=True)
        return live

    def _find_secret(self, commitment: str) -> bytes | None:
        """Return the secret of an epoch, which another process may have begun."""
        with self.store.reading() as view:
            return view.secret(commitment)
