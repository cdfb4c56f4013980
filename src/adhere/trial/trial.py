"""A trial in memory: it recommends arms, and accepts reports at any later time, in any order and in parts."""

from __future__ import annotations

import os
import warnings
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path
from typing import Any

from adhere.analysis.records import Records
from adhere.checks import check_reward
from adhere.design.arms import check_arm_names
from adhere.design.design import Design
from adhere.design.design_file import load_design
from adhere.design.make_design import check_trial_name
from adhere.errors import InputError, listed
from adhere.files import replacing
from adhere.policies import Policy, PolicyLike, as_policy
from adhere.policies.guards.floor import ControlWarning, protected_control
from adhere.store.sqlite import SqliteStore
from adhere.store.transactions import WriteTransaction
from adhere.trial.domain.commands import AnyCommand, ChangeStatus, Correct, Recommend, Report
from adhere.trial.domain.events import AnyEvent, Recommended, created_event, decode
from adhere.trial.domain.log_records import read_histories, walk
from adhere.trial.domain.state import TrialState
from adhere.trial.log.log_file import read_log, write_log
from adhere.trial.log.look_view import LookView, logged_looks, recommended_stop
from adhere.trial.log.records import records_of_histories
from adhere.trial.policy.engine import Engine, engine_of
from adhere.trial.secret.recommendation_ids import EXAMPLE, parse_id
from adhere.trial.secret.trial_keys import seeded_keys
from adhere.trial.writing.creation import create_trial
from adhere.trial.writing.execution import execute
from adhere.trial.writing.transaction import LiveTrial, TrialTransaction

_NUMBER = 1  # number of the only trial in its store


@dataclass(frozen=True)
class Recommendation:
    """Arm for the next patient, with everything that is needed to explain it and to learn from it later.

    Parameters
    ----------
    id : str
        ID that reports refer to.
    arm : str
        Arm recommended.
    probabilities : dict of str to float
        Probability of each arm when this one was drawn.
    memo : tuple of float
        Numbers that the policy must remember until the report.
    estimated : bool, default False
        Whether the probabilities are estimates.

    See Also
    --------
    Trial.recommend : Recommend an arm.

    Examples
    --------
    >>> from adhere import Trial
    >>> recommendation = Trial("uniform", ["walk", "aspirin"], seed=1).recommend()
    >>> recommendation.probabilities
    {'walk': 0.5, 'aspirin': 0.5}

    """

    id: str
    arm: str
    probabilities: dict[str, float]
    memo: tuple[float, ...]
    estimated: bool = False


class Trial:
    """Trial in memory: a policy that recommends arms and learns from reports.

    Save it to a file to keep it. For a trial with several people and sites, use `adhere serve`.

    Learners under Chosen, and the top of a hierarchy, learn as soon as the reward is reported. Other learners wait
    for the arm taken. Each report is learned once. The compiled functions are those of `simulate`: a trial with the
    same seed and ``run=r`` that meets the same patients in the same order recommends the arms of run r.

    Parameters
    ----------
    policy : Policy or str
        Policy or its text.
    arms : sequence of str
        Names of at least two arms.
    seed : int, default 0
        Seed of all random numbers. Anyone who has the seed can predict the next arm, so a real trial needs one that
        cannot be guessed, such as ``secrets.randbits(63)``.
    n_patients : int, optional
        Largest number of patients. Some policies need it, such as EXP3 without γ.
    run : int, default 0
        Index of the run that the random numbers belong to.
    reward_values : sequence of float, default (0, 1)
        Every reward that can occur. Policies that recycle outcomes need it, because they count outcomes by value.
    name : str, default "trial"
        Name of the trial in a file that it is saved to.

    See Also
    --------
    Client : A trial that a service runs.
    simulate : Simulate many trials.

    Examples
    --------
    >>> trial = Trial("thompson/actual", arms=["walk", "aspirin"], seed=1)
    >>> recommendation = trial.recommend()
    >>> trial.report(recommendation.id, reward=1)
    >>> trial.report(recommendation.id, actual="aspirin")
    >>> trial.recommend().probabilities["aspirin"].__round__(4)
    0.6667
    >>> trial
    Trial 'trial': thompson/actual on walk, aspirin; 2 recommendations

    """

    def __init__(
        self,
        policy: PolicyLike,
        arms: Sequence[str],
        seed: int = 0,
        n_patients: int | None = None,
        *,
        run: int = 0,
        reward_values: Sequence[float] = (0.0, 1.0),
        name: str = "trial",
    ) -> None:
        names = check_arm_names(arms)
        keys = seeded_keys(seed, run)
        engine = Engine(policy, names, keys, n_patients=n_patients, reward_values=reward_values)
        design = Design(
            name=check_trial_name(name),
            policy=str(as_policy(policy)),
            arms=names,
            n_patients=n_patients,
            reward_values=tuple(check_reward("reward", value) for value in reward_values),
        )
        if warning := protected_control([engine.policy], names)[1]:
            warnings.warn(warning, ControlWarning, stacklevel=2)
        self._begin(engine, run, design, seed)

    @classmethod
    def from_design(
        cls, design: Design | str | PathLike[str] | Mapping[str, Any], seed: int = 0, run: int = 0
    ) -> Trial:
        """Create a trial from a design, or from any input that `load_design` reads. `seed` and `run` have the same
        meaning as in `Trial`.

        >>> from adhere.design.make_design import make_design
        >>> Trial.from_design(make_design("headache", "thompson", ["walk", "aspirin"], n_patients=100), seed=1)
        Trial 'headache': thompson on walk, aspirin; 0 recommendations
        """
        trial, design = cls.__new__(cls), load_design(design)
        trial._begin(engine_of(design, seeded_keys(seed, run)), run, design, seed)
        return trial

    def __repr__(self) -> str:
        n = self._state.n_recommendations
        many = "1 recommendation" if n == 1 else f"{n:,} recommendations"
        return f"Trial {self.name!r}: {self.policy} on {listed(self.arms)}; {many}"

    def _begin(self, engine: Engine, run: int, design: Design, seed: int) -> None:
        self._set_up(SqliteStore(None), engine, run)
        self._transaction = create_trial(self._store, design, datetime.now(UTC), "", seed=seed, engine=engine)

    def _set_up(self, store: SqliteStore, engine: Engine, run: int) -> None:
        weakref.finalize(self, store.close)
        engine.falls_back = False  # the caller sees why the policy fails
        self._store: WriteTransaction = store.unending()
        self._engine, self._run = engine, run
        # The time of creation comes from this machine and is independent of the trial's own times.
        self._last_at: datetime | None = None

    @property
    def name(self) -> str:
        """The trial's name, which is also stored in saved files."""
        return self._state.design.name

    @property
    def arms(self) -> tuple[str, ...]:
        """The names of the arms."""
        return self._state.design.arms

    @property
    def policy(self) -> Policy:
        """The policy, with all its settings."""
        return self._engine.policy

    @property
    def _state(self) -> TrialState:
        return self._transaction.state

    @classmethod
    def load(cls, path: str | Path) -> Trial:
        """Load a trial that `save` wrote, to continue it. If its policy is one of your own, import the policy first.

        Raise an `InputError` if the file is missing, was changed, or was not written by `save`.
        """
        if not Path(path).is_file():
            raise InputError("path", str(path), "a file that Trial.save wrote; there is no such file")
        store = SqliteStore(None)
        _, fault = read_log(Path(path), store)
        if fault is not None:
            raise InputError("path", str(path), f"a log as it was written; {fault}")
        trial, view = cls.__new__(cls), store.unending()
        created = created_event(view, _NUMBER)
        if created.seed is None:
            expected = "a log that Trial.save wrote; one of a service goes on in a service: adhere trial import"
            raise InputError("path", str(path), expected)
        engine = engine_of(created.design, seeded_keys(created.seed))
        trial._set_up(store, engine, 0)
        live = LiveTrial(_NUMBER, created.design, engine, engine.keys.kits(created.design.name, blinded=False))
        trial._transaction = TrialTransaction(view, live, *view.fetch(_NUMBER, [], [], [])())
        if trial._state.position > 1:
            trial._last_at = decode(view.records(_NUMBER, trial._state.position - 1)[0].body).at
        if trial._state.refusals:
            raise InputError("path", str(path), f"the version of {trial.policy} that it was saved with")
        return trial

    def save(self, path: str | Path) -> None:
        """Write the trial to a file, completely or not at all. `load` reads the file, and the trial continues.

        The file is a log: `adhere trial verify`, `replay`, `explain`, `results` and `export` read it, and `adhere
        trial import` copies it into a store. The trial cannot continue live in the store, because its arms follow
        from a seed.

        >>> import tempfile
        >>> trial = Trial("thompson", arms=["walk", "aspirin"], seed=1)
        >>> trial.report(trial.recommend().id, actual="walk", reward=1)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     trial.save(f"{folder}/headache.log")
        ...     again = Trial.load(f"{folder}/headache.log")
        >>> again.recommend() == trial.recommend()
        True
        """
        if self._run != 0:
            raise InputError("run", self._run, "a trial with run=0: a log holds the seed of a trial, and no run")
        path = Path(path)
        if not path.absolute().parent.is_dir():
            folder = path.absolute().parent
            raise InputError("path", str(path), f"a file in an existing folder; {folder} does not exist")
        if path.is_dir():
            raise InputError("path", str(path), "a file, not a folder")
        with replacing(path, private=True) as temporary:
            write_log(self._written(), _NUMBER, temporary)
            with temporary.open("rb") as file:
                os.fsync(file.fileno())

    def recommend(self, *, stratum: str | None = None, at: datetime | None = None) -> Recommendation:
        """Recommend an arm for the next patient. A design with strata requires the `stratum`. `at` is the time of the
        recommendation (default: now).
        """
        subject = str(self._state.n_recommendations)  # a number that names nobody
        events = self._execute(Recommend(trial=self.name, request_id="", subject=subject, stratum=stratum), at)
        event = next(event for event in events if isinstance(event, Recommended))  # a look may come with it
        return Recommendation(
            id=event.recommendation_id,
            arm=self.arms[event.chosen],
            probabilities=dict(zip(self.arms, event.probabilities, strict=True)),
            memo=event.memo,
            estimated=event.estimated,
        )

    def report(
        self,
        id: str,  # noqa: A002
        *,
        actual: str | None = None,
        took_nothing: bool = False,
        took_other: str | None = None,
        reward: float | None = None,
        at: datetime | None = None,
    ) -> None:
        """Report the treatment taken, the reward, or both. `at` is the time of the report (default: now).

        Repeating a report changes nothing. A report that contradicts an earlier one is refused; use `correct`
        instead.

        The treatment taken is an arm (`actual`), none of the arms (`took_nothing`), or another treatment, described
        in words (`took_other`). If the policy fails at the update, the update is skipped and a warning is logged.
        """
        said: dict[str, Any] = {"actual": actual, "took_nothing": took_nothing, "took_other": took_other}
        self._execute(
            Report(trial=self.name, request_id="", recommendation_id=self._known(id), reward=reward, **said), at
        )

    def correct(
        self,
        id: str,  # noqa: A002
        *,
        reason: str,
        actual: str | None = None,
        took_nothing: bool = False,
        took_other: str | None = None,
        reward: float | None = None,
        retract: Sequence[str] = (),
        at: datetime | None = None,
    ) -> None:
        """Replace reported values. Values listed in `retract` ("actual", "reward") count as never reported.

        The policy learns as if the right values had been reported in the first place.

        >>> trial = Trial("thompson", arms=["walk", "aspirin"], seed=1)
        >>> first = trial.recommend().id
        >>> trial.report(first, reward=0)
        >>> trial.correct(first, reward=1, reason="typing error")
        >>> trial.records().reward.tolist()
        [1.0]
        """
        said: dict[str, Any] = {"actual": actual, "took_nothing": took_nothing, "took_other": took_other}
        known: dict[str, Any] = {"recommendation_id": self._known(id), "retract": tuple(retract), "reward": reward}
        self._execute(Correct(trial=self.name, request_id="", reason=reason, **known, **said), at)

    def close(self, reason: str, *, at: datetime | None = None) -> None:
        """End the trial for a reason, such as a look that recommends a stop. `at` is the time of the end (default:
        now).

        If all patients were recommended an arm, the design's last look is made first, without the outcomes that are
        still missing.
        """
        self._execute(ChangeStatus(trial=self.name, request_id="", status="closed", reason=reason), at)

    @property
    def looks(self) -> list[LookView]:
        """The planned looks made so far: the findings for each arm, and whether to stop."""
        return logged_looks(self._written(), _NUMBER, self._state.design)

    @property
    def recommended_stop(self) -> LookView | None:
        """The first look that recommends a stop, or None. `close` confirms the stop."""
        return recommended_stop(self.looks)

    def records(self) -> Records:
        """Return the recommendations so far, with the treatments taken and the rewards, as arrays to analyse.

        >>> trial = Trial("thompson", arms=["walk", "aspirin"], seed=1)
        >>> trial.report(trial.recommend().id, actual="walk", reward=1)
        >>> records = trial.records()
        >>> records.actual.tolist(), records.reward.tolist(), records.probabilities.tolist()
        ([0], [1.0], [[0.5, 0.5]])
        """
        return records_of_histories(self._state.design, read_histories(self._written(), _NUMBER))

    @property
    def events(self) -> tuple[AnyEvent, ...]:
        """All events of the trial in the order of its log."""
        return tuple(decode(record.body) for record in walk(self._written(), _NUMBER))

    @property
    def state(self) -> tuple[float, ...]:
        """The policy's state as plain numbers, after all reports so far."""
        self._transaction.catch_up()
        return tuple(self._state.policy_state.tolist())

    def _execute(self, command: AnyCommand, at: datetime | None) -> list[AnyEvent]:
        """Execute a command and return the resulting events."""
        if not self._engine.is_loaded:
            self._engine.try_to_load()  # a policy that fails reports it when it chooses
        now, n_before = self._now(at), len(self._transaction.events)
        execute(self._transaction, command, now)
        self._last_at = now
        return self._transaction.events[n_before:]

    def _now(self, at: datetime | None) -> datetime:
        """Return the time of the next event."""
        last = self._last_at
        if at is None:
            return datetime.now(UTC) if last is None else max(last, datetime.now(UTC))  # clocks may be set back
        if not isinstance(at, datetime) or at.tzinfo is None:
            given = at.isoformat() if isinstance(at, datetime) else at
            raise InputError("at", given, "a time with its zone, e.g. datetime(2026, 3, 1, tzinfo=UTC)")
        if last is not None and at < last:
            raise InputError("at", at.isoformat(), f"no time before {last.isoformat()}, when something happened last")
        return at

    def _known(self, id: object) -> str:  # noqa: A002
        """Return the ID of a recommendation of this trial, and load its history."""
        known = parse_id(id) if isinstance(id, str) else None
        index = None if known is None else self._engine.keys.ids.index_of(known)
        if known is not None and index is not None and index < self._state.n_recommendations:
            self._transaction.load([index])
            if self._state.histories[index].recommendation_id == known:
                return known
        raise InputError("id", id, f"the ID of a recommendation of this trial, e.g. {EXAMPLE}")

    def _written(self) -> WriteTransaction:
        """Return the store with all events so far written to it."""
        self._transaction.finish()
        return self._store
