"""One trial in memory: recommend now, hear back in any order, in parts, any time later."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from adhere.checks import is_integer
from adhere.errors import InputError
from adhere.trial.arms import arm_taken, check_arm_names
from adhere.trial.design import Design
from adhere.trial.engine import Engine
from adhere.trial.events import AnyEvent, Reported
from adhere.trial.evolve import evolve, refused_events
from adhere.trial.state import TrialState, initial_state
from adhere.trial.verbs.recommend import recommended
from adhere.trial.verbs.report import check_not_contradicted


@dataclass(frozen=True)
class Recommendation:
    """An arm for the next patient, with everything needed to explain it and to learn from it later.

    `probabilities` are those of each arm when it was drawn, exact unless `estimated`; `memo` is what the policy
    must remember until feedback comes.
    """

    id: int
    arm: str
    probabilities: dict[str, float]
    memo: tuple[float, ...]
    estimated: bool = False


class Trial:
    """A policy at work on one trial, for as long as the process lives; `adhere serve` keeps trials for good.

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
        What everything random follows from.
    horizon
        The planned number of patients, for policies that need it (EXP3 without γ).
    reward_values
        Every reward that can occur, needed by policies that recycle outcomes: they count them by value.

    >>> trial = Trial("thompson/actual", arms=["walk", "aspirin"], seed=1)
    >>> recommendation = trial.recommend()
    >>> trial.report(recommendation.id, reward=1)
    >>> trial.report(recommendation.id, actual="aspirin")
    >>> trial.recommend().probabilities["aspirin"].__round__(4)
    0.6667

    """

    def __init__(
        self,
        policy: object,
        arms: Sequence[str],
        seed: int = 0,
        horizon: int | None = None,
        *,
        run: int = 0,
        reward_values: Sequence[float] = (0.0, 1.0),
    ) -> None:
        self.arms = check_arm_names(arms)
        engine = Engine(policy, len(self.arms), seed=seed, run=run, horizon=horizon, reward_values=reward_values)
        self.policy = engine.policy
        self._state = initial_state(Design("", str(engine.policy), self.arms, seed), engine)

    def recommend(self) -> Recommendation:
        """An arm for the next patient."""
        state = self._state
        choice = state.engine.choose(state.policy_state, state.n_recommendations)
        event = recommended(state, choice, **self._stamp(), subject="", site="")
        self._state = self._evolved(event)
        return Recommendation(
            id=event.recommendation_id,
            arm=self.arms[choice.chosen],
            probabilities=dict(zip(self.arms, choice.probabilities, strict=True)),
            memo=choice.memo,
            estimated=event.estimated,
        )

    def report(
        self,
        id: int,  # noqa: A002
        *,
        actual: str | None = None,
        took_nothing: bool = False,
        took_other: str | None = None,
        reward: float | None = None,
    ) -> None:
        """Report what was actually taken, the reward, or both. The same report twice changes nothing.

        A lesson at which the policy fails is left out, and a warning logged.
        Taken was an arm (`actual`), none of them (`took_nothing`), or something else (`took_other`, in words).
        """
        state = self._state
        taken = arm_taken(self.arms, actual, took_nothing, took_other)
        value = None if reward is None else state.engine.check_reward(reward)
        if taken is None and value is None:
            raise InputError("report", None, "actual=…, reward=… or both")
        if not is_integer(id) or not 0 <= id < state.n_recommendations:
            raise InputError("id", id, "the id of a recommendation of this trial")
        check_not_contradicted(state.histories[int(id)], self.arms, taken, value)
        event = Reported(**self._stamp(), recommendation_id=int(id), actual=taken, reward=value)
        self._state = self._evolved(event)

    @property
    def state(self) -> tuple[float, ...]:
        """What the policy has learned so far, as plain numbers."""
        return tuple(self._state.policy_state.tolist())

    def _evolved(self, event: AnyEvent) -> TrialState:
        """The state after an event and those of the lessons it made the policy refuse."""
        state = evolve(self._state, event)
        for refusal in refused_events(state, event.at):
            state = evolve(state, refusal)
        return state

    def _stamp(self) -> dict[str, Any]:
        return {"position": self._state.position + 1, "at": datetime.now(UTC)}
