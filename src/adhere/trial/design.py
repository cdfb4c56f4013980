"""What a live trial is: decided before the first patient, recorded in the first record of its log, never changed."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

import msgspec

from adhere.errors import InputError
from adhere.randomness import check_seed
from adhere.trial.checks import checked_arms, checked_reward, checked_text, is_whole
from adhere.trial.engine import Engine
from adhere.trial.trial import arm_taken

MOST_REWARD_VALUES = 100
LONGEST_WAIT = 36500.0


class Imputation(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What to count as reported once a recommendation is so many days old: an arm taken, nothing taken, a reward."""

    after_days: float
    actual: str | None = None
    took_nothing: bool = False
    reward: float | None = None


class Design(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A trial's name, policy and arms, and how it is run.

    With `blinded`, whoever asks is told a kit code instead of the arm. With `repeats`, a subject may get another
    recommendation while one is open. Without `impute`, nothing is ever assumed of what was not reported.
    """

    name: str
    policy: str
    arms: tuple[str, ...]
    seed: int
    horizon: int | None = None
    reward_values: tuple[float, ...] = (0.0, 1.0)
    blinded: bool = False
    repeats: bool = False
    impute: Imputation | None = None

    def engine(self) -> Engine:
        """The policy, ready to work."""
        return Engine(
            self.policy, len(self.arms), seed=self.seed, horizon=self.horizon, reward_values=self.reward_values
        )


def make_design(
    name: str,
    policy: object,
    arms: Sequence[str],
    *,
    seed: int | None = None,
    horizon: int | None = None,
    reward_values: Sequence[float] = (0.0, 1.0),
    blinded: bool = False,
    repeats: bool = False,
    impute: Imputation | None = None,
) -> Design:
    """A design that was looked over; without a seed, one that nobody can guess.

    >>> make_design("headache", "thompson/actual", ["walk", "aspirin"], seed=1).policy
    'thompson/actual'
    """
    names = checked_arms(arms)
    for arm in names:
        if '"' in arm:  # arms become names of columns
            raise InputError("arms", arm, "a name without a quotation mark")
    if not isinstance(reward_values, Sequence) or len(reward_values) > MOST_REWARD_VALUES:
        raise InputError("reward_values", reward_values, f"at most {MOST_REWARD_VALUES} rewards that can occur")
    if impute is not None:
        _check_imputation(impute, names)
    if "/" in checked_text("name", name):
        raise InputError("name", name, "a name without a slash")
    draft = Design(
        name=checked_text("name", name),
        policy=policy if isinstance(policy, str) else str(policy),
        arms=names,
        seed=secrets.randbits(63) if seed is None else check_seed(seed),
        horizon=horizon,
        reward_values=tuple(sorted({checked_reward(value) for value in reward_values})),
        blinded=blinded,
        repeats=repeats,
        impute=impute,
    )
    engine = draft.engine()
    if impute is not None and impute.reward is not None:
        engine.check_reward(impute.reward)
    return msgspec.structs.replace(draft, policy=str(engine.policy))


def _check_imputation(impute: Imputation, arms: tuple[str, ...]) -> None:
    days = impute.after_days
    if not (is_whole(days) or isinstance(days, float)) or not 0.0 < days <= LONGEST_WAIT:
        raise InputError("impute.after_days", days, "a number of days above 0")
    if impute.reward is not None:
        checked_reward(impute.reward)
    if arm_taken(arms, impute.actual, impute.took_nothing) is None and impute.reward is None:
        raise InputError("impute", "nothing", "what to count as taken (actual, took_nothing), a reward, or both")
