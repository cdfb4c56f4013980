"""One trial in memory: recommend now, hear back in any order, in parts, any time later."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from adhere.errors import InputError, nearest
from adhere.trial.case import TOOK_NOTHING, TOOK_OTHER, Case
from adhere.trial.checks import LONGEST_TEXT, checked_arms, checked_text, is_whole
from adhere.trial.engine import Engine


@dataclass(frozen=True)
class Recommendation:
    """An arm for the next patient, with all that is needed to explain and to learn from it later.

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
        self.arms = checked_arms(arms)
        self._engine = Engine(
            policy, len(self.arms), seed=seed, run=run, horizon=horizon, reward_values=reward_values
        )
        self.policy = self._engine.policy
        self._state = self._engine.first_state
        self._cases: list[Case] = []
        self._position = 0

    def recommend(self) -> Recommendation:
        """An arm for the next patient."""
        identity = len(self._cases)
        decision = self._engine.decide(self._state, identity)
        self._state = decision.state
        self._position += 1
        self._cases.append(Case(identity, self._position, decision.chosen, decision.memo))
        return Recommendation(
            id=identity,
            arm=self.arms[decision.chosen],
            probabilities=dict(zip(self.arms, decision.probabilities, strict=True)),
            memo=decision.memo,
            estimated=self._engine.estimated,
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
        """Say what was actually taken, what came of it, or both. The same report twice changes nothing.

        Taken was an arm (`actual`), none of them (`took_nothing`), or something else (`took_other`, in words).
        """
        taken = arm_taken(self.arms, actual, took_nothing, took_other)
        value = None if reward is None else self._engine.check_reward(reward)
        if taken is None and value is None:
            raise InputError("report", None, "actual=…, reward=… or both")
        if not is_whole(id) or not 0 <= id < len(self._cases):
            raise InputError("id", id, "the id of a recommendation of this trial")
        before = self._cases[id]
        check_same_again(before, self.arms, taken, value)
        self._position += 1
        after = before.reported(self._position, taken, value)
        self._cases[id] = after
        for lesson in after.lessons(len(self.arms)):
            if lesson.place == self._position:
                self._state = self._engine.learn(self._state, id, after.memo, after.chosen, *lesson[1:])

    @property
    def state(self) -> tuple[float, ...]:
        """What the policy has learned so far, as plain numbers."""
        return tuple(self._state.tolist())


def arm_taken(
    arms: Sequence[str], actual: object = None, took_nothing: bool = False, took_other: object = None
) -> int | None:
    """What was taken as a number: an arm's, or one of those for what is no arm; None if nothing is said of it."""
    said = [name for name, value in (("actual", actual), ("took_other", took_other)) if value is not None]
    said += ["took_nothing"] if took_nothing else []
    if len(said) > 1:
        raise InputError(" and ".join(said), "both", "one of them")
    if took_nothing:
        return TOOK_NOTHING
    if took_other is not None:
        checked_text("took_other", took_other, LONGEST_TEXT)
        return TOOK_OTHER
    if actual is None:
        return None
    if actual not in arms:
        raise InputError("actual", actual, nearest(str(actual), arms))
    return list(arms).index(str(actual))


def check_same_again(case: Case, arms: Sequence[str], taken: int | None, reward: float | None) -> None:
    """Refuse a report that says otherwise than one before; what was only imputed may be replaced."""
    known = case.actual
    if taken is not None and known is not None and not known.imputed and taken != known.value:
        expected = f"{words_for(arms, int(known.value))}, as reported before for recommendation {case.decision}"
        raise InputError("actual", words_for(arms, taken), expected)
    known = case.reward
    if reward is not None and known is not None and not known.imputed and reward != known.value:
        expected = f"{known.value:g}, as reported before for recommendation {case.decision}"
        raise InputError("reward", reward, expected)


def words_for(arms: Sequence[str], taken: int) -> str:
    """What was taken, in words."""
    return {TOOK_NOTHING: "took nothing", TOOK_OTHER: "took something else"}.get(taken) or repr(arms[taken])
