"""One trial in memory: recommend now, hear back in any order, in parts, any time later."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from os import PathLike
from pathlib import Path
from typing import Any

from adhere.analysis.records import Records
from adhere.checks import MAX_TEXT_LENGTH, check_reward, check_text
from adhere.design.arms import arm_taken, check_arm_names
from adhere.design.design import Design
from adhere.design.design_file import load_design
from adhere.design.make_design import check_trial_name
from adhere.errors import InputError, listed
from adhere.policies import PolicyLike, as_policy
from adhere.policies.guards.floor import ControlWarning, protected_control
from adhere.trial.domain.chain import commitment
from adhere.trial.domain.events import AnyEvent, Closed, Created, Looked, Reported
from adhere.trial.domain.history import History
from adhere.trial.domain.state import TrialState
from adhere.trial.log.look_view import LookView, look_views, recommended_stop
from adhere.trial.log.records import records_of_histories
from adhere.trial.looks.due_looks import choose, stratum_number
from adhere.trial.policy.engine import Engine, engine_of
from adhere.trial.saving import load_events, save_events
from adhere.trial.secret.recommendation_ids import EXAMPLE, parse_id
from adhere.trial.secret.trial_keys import seeded_keys
from adhere.trial.trial_log import TrialLog, created_now
from adhere.trial.verbs.context import named_history
from adhere.trial.verbs.recommend import check_not_full, recommended
from adhere.trial.verbs.report import check_not_contradicted
from adhere.trial.writing.lookups import new_salt


@dataclass(frozen=True)
class Recommendation:
    """An arm for the next patient, with everything needed to explain it and to learn from it later.

    Reports name it by its `id`; `probabilities` are those of each arm when it was drawn, exact unless `estimated`;
    `memo` is what the policy must remember until feedback comes.
    """

    id: str
    arm: str
    probabilities: dict[str, float]
    memo: tuple[float, ...]
    estimated: bool = False


class Trial:
    """A policy at work on one trial, in memory until it is saved; `adhere serve` keeps trials for good.

    Chosen-protocol learners and the top of a hierarchy learn as soon as the reward is in, the others when the
    actual arm is in too, each exactly once. The same compiled functions as in `simulate`: a trial with the same
    seed and `run=r`, fed the same patients in order, picks the arms of run r.

    Parameters
    ----------
    policy
        A policy or its text.
    arms
        Their names, at least two.
    seed, run
        What everything random follows from. Who knows the seed can tell the next arm: in a real trial take one that
        cannot be guessed, as `secrets.randbits(63)` gives.
    n_patients
        The largest number of patients; some policies need it (EXP3 without γ).
    reward_values
        Every reward that can occur, needed by policies that recycle outcomes: they count them by value.
    name
        What a file that it is saved to calls it.

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
        self._begin(engine, run, created_now(design, engine, seed))

    @classmethod
    def from_design(
        cls, design: Design | str | PathLike[str] | Mapping[str, Any], seed: int = 0, run: int = 0
    ) -> Trial:
        """A trial of a design, or of what `load_design` reads, with a seed and run as above.

        >>> from adhere.design.make_design import make_design
        >>> Trial.from_design(make_design("headache", "thompson", ["walk", "aspirin"], n_patients=100), seed=1)
        Trial 'headache': thompson on walk, aspirin; 0 recommendations
        """
        trial, design = cls.__new__(cls), load_design(design)
        engine = engine_of(design, seeded_keys(seed, run))
        trial._begin(engine, run, created_now(design, engine, seed))
        return trial

    def __repr__(self) -> str:
        n = self._state.n_recommendations
        many = "1 recommendation" if n == 1 else f"{n:,} recommendations"
        return f"Trial {self.name!r}: {self.policy} on {listed(self.arms)}; {many}"

    def _begin(self, engine: Engine, run: int, created: Created) -> None:
        self.name, self.arms, self.policy = created.design.name, created.design.arms, engine.policy
        self._run = run
        self._log = TrialLog(engine, created)
        self._notes: dict[int, tuple[bytes, str]] = {}

    @property
    def _state(self) -> TrialState:
        return self._log.state

    @classmethod
    def load(cls, path: str | Path) -> Trial:
        """Go on with a trial that `save` wrote; its policy, if it is one of your own, must be imported before.

        Raises an `InputError` for a file that is missing, was changed, or was not written by `save`.
        """
        events, notes = load_events(Path(path))
        created = events[0]
        assert isinstance(created, Created)
        trial = cls.__new__(cls)
        trial._begin(engine_of(created.design, created.keys()), 0, created)
        if not trial._log.repeat(events[1:]):
            raise InputError("path", str(path), f"the version of {trial.policy} that it was saved with")
        trial._notes = notes
        return trial

    def save(self, path: str | Path) -> None:
        """Write the trial to a file, whole or not at all, for `load` to go on with.

        It is a log: `adhere trial verify`, `replay`, `explain`, `results` and `export` read it, and
        `adhere trial import` brings it into a store. It cannot go on live there, because its arms follow from a seed.

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
        save_events(self._log.events, self._notes, Path(path))

    def recommend(self, *, stratum: str | None = None, at: datetime | None = None) -> Recommendation:
        """An arm for the next patient, of a stratum if the design has strata; `at` is when, if not now."""
        now = self._log.now(at)
        state = self._state
        check_not_full(state)
        number = stratum_number(state.design, stratum)
        try:
            choice = choose(state, number)
        except Exception as error:
            engine, index = state.engine, state.n_recommendations
            raise engine.explain(error, state.policy_state, index, state.epoch) from None
        event = recommended(
            state,
            choice,
            recommendation_id=state.engine.keys.id_at(state.n_recommendations),
            position=state.position + 1,
            at=now,
            subject="",
            site="",
            stratum=number,
        )
        self._log.add(event)
        return Recommendation(
            id=event.recommendation_id,
            arm=self.arms[choice.chosen],
            probabilities=dict(zip(self.arms, choice.probabilities, strict=True)),
            memo=choice.memo,
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
        """Report what was actually taken, the reward, or both; `at` is when, if not now.

        The same report twice changes nothing.

        A lesson at which the policy fails is left out, and a warning logged.
        Taken was an arm (`actual`), none of them (`took_nothing`), or something else (`took_other`, in words).
        """
        now = self._log.now(at)
        state = self._state
        taken = arm_taken(self.arms, actual, took_nothing, took_other)
        value = None if reward is None else state.engine.check_reward(reward)
        if taken is None and value is None:
            raise InputError("report", None, "actual=…, reward=… or both")
        history = named_history(state, parse_id(id) or "") if isinstance(id, str) else None
        if history is None:
            raise InputError("id", id, f"the ID of a recommendation of this trial, e.g. {EXAMPLE}")
        check_not_contradicted(history, self.arms, taken, value)
        text = ""
        if took_other is not None:
            self._check_same_words(history, took_other)
            self._notes[state.position + 1] = note = (new_salt(), took_other)
            text = commitment(*note)
        position = state.position + 1
        index = history.recommendation_index
        self._log.add(
            Reported(position=position, at=now, recommendation_index=index, actual=taken, reward=value, text=text)
        )

    def close(self, reason: str, *, at: datetime | None = None) -> None:
        """End the trial, as a look recommends or for another reason; `at` is when, if not now.

        If all patients were recommended an arm, the design's last look is made first, without the outcomes that are
        still missing.
        """
        now = self._log.now(at)
        text = check_text("reason", reason, MAX_TEXT_LENGTH)
        self._log.look(now, is_end=True)
        self._log.add(Closed(position=self._state.position + 1, at=now, reason=text))

    @property
    def looks(self) -> list[LookView]:
        """The looks so far, as the design plans them: what was found of each arm, and whether to stop."""
        return look_views(self._state.design, (event for event in self._log.events if isinstance(event, Looked)))

    @property
    def recommended_stop(self) -> LookView | None:
        """The first look that recommends to stop, if one does; `close` confirms it."""
        return recommended_stop(self.looks)

    def records(self) -> Records:
        """What was recommended, taken and reported so far, as arrays to analyse.

        >>> trial = Trial("thompson", arms=["walk", "aspirin"], seed=1)
        >>> trial.report(trial.recommend().id, actual="walk", reward=1)
        >>> records = trial.records()
        >>> records.actual.tolist(), records.reward.tolist(), records.probabilities.tolist()
        ([0], [1.0], [[0.5, 0.5]])
        """
        return records_of_histories(self._state.design, self._log.patients())

    @property
    def events(self) -> tuple[AnyEvent, ...]:
        """Everything that happened, as a log has it."""
        return tuple(self._log.events)

    @property
    def state(self) -> tuple[float, ...]:
        """What the policy has learned so far, as plain numbers."""
        return tuple(self._state.policy_state.tolist())

    def _check_same_words(self, history: History, words: str) -> None:
        known = history.actual
        if known is not None and known.text_at is not None and self._notes[known.text_at][1] != words:
            before = self._notes[known.text_at][1]
            expected = f"{before!r}, as reported before for recommendation {history.recommendation_id}"
            raise InputError("took_other", words, expected)
