"""The command processor: many commands at a time, each trial in turn, all in one transaction.

`execution` has what holds for every command, and the verbs what each of them does.
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
from adhere.trial.writing.derivation import derive_caches
from adhere.trial.writing.execution import execute, needed, why_unavailable
from adhere.trial.writing.transaction import LiveTrial, TrialTransaction


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
        """The trials that commands name, locked and with what the commands will need."""
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
        """Whether a command takes no longer than a commit: no lock to wait for, nothing to learn again."""
        live = self._trials.get(command.trial)
        if live is None or not live.engine.is_loaded or self.store.shared:
            return False
        return isinstance(command, QUICK) and not (isinstance(command, REPLACE_IMPUTED) and live.n_examined)

    def is_ready(self, trial: str) -> bool:
        """Whether a trial's policy is loaded and its caches are derived; until then `prepare` may take seconds."""
        live = self._trials.get(trial)
        return live is not None and live.is_ready

    def prepare(self, commands: Sequence[AnyCommand]) -> None:
        """Make the trials of some commands ready, while others write: in their transaction it would take long.

        Whatever cannot be done now is left to `execute`, which tells why.
        """
        for name in {command.trial: None for command in commands}:
            with suppress(InputError, UnavailableError):
                self.make_ready(self.trial(name))

    def make_ready(self, live: LiveTrial) -> None:
        """Load a trial's policy, and derive its caches where there are none of this version."""
        live.engine.ensure_loaded()
        if (looker := looker_of(live.design, live.engine)) is not None and looker.plan.prescribes:
            live.engine.load_allocation()
        derive_caches(self.store, live)

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
