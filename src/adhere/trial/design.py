"""The design of a live trial: fixed before the first patient, stored in the first record of its log."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

import msgspec

from adhere.checks import check_reward, check_text, is_number
from adhere.errors import InputError, UnknownPolicyError
from adhere.randomness import check_seed
from adhere.trial.arms import arm_taken, check_arm_names
from adhere.trial.design_parts import Delay, Enrolment, Estimand, Looks, Missing, Stopping, Update
from adhere.trial.engine import Engine

MAX_REWARD_VALUES = 100
MAX_DAYS = 36500.0


class Imputation(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The rule for missing reports: what to assume after so many days (an arm taken, nothing taken, a reward)."""

    after_days: float
    actual: str | None = None
    took_nothing: bool = False
    reward: float | bool | None = None


class Design(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A trial's name, policy and arms, and how it is run.

    With `blinded`, sites get a kit code instead of the arm. With `repeats`, a subject may get another recommendation
    while one is open. Without `impute`, a missing report stays missing.
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
    control: str | None = None
    strata: tuple[str, ...] = ()
    update: Update = "every patient"
    looks: Looks = Looks()
    stopping: Stopping | None = None
    estimands: tuple[Estimand, ...] = ("intention-to-treat", "compliers")
    enrolment: Enrolment = Enrolment()
    delay: Delay = Delay()
    missing: Missing = Missing()

    def engine(self) -> Engine:
        """The compiled policy."""
        return Engine(
            self.policy, len(self.arms), seed=self.seed, horizon=self.horizon, reward_values=self.reward_values
        )

    def recorded_engine(self) -> Engine:
        """As `engine`, for a design that was read from a log, and was valid where that was written."""
        try:
            return self.engine()
        except InputError as error:
            hint = "if this policy is your own, give its file with --import FILE.py"
            raise UnknownPolicyError(f"trial {self.name!r} cannot be run here: {error}; {hint}") from error


def check_trial_name(name: object) -> str:
    """A name that can be part of an address."""
    text = check_text("name", name)
    if "/" in text:
        raise InputError("name", name, "a name without a slash")
    if text in (".", ".."):  # which addresses take for this folder and the one above
        raise InputError("name", name, "a name with more than dots")
    return text


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
    """A validated design; without a seed, it gets one that cannot be guessed.

    >>> make_design("headache", "thompson/actual", ["walk", "aspirin"], seed=1).policy
    'thompson/actual'
    """
    names = check_arm_names(arms)
    for arm in names:
        if '"' in arm:  # arms become names of columns
            raise InputError("arms", arm, "a name without a quotation mark")
    if not isinstance(reward_values, Sequence) or len(reward_values) > MAX_REWARD_VALUES:
        raise InputError("reward_values", reward_values, f"at most {MAX_REWARD_VALUES} rewards that can occur")
    if impute is not None:
        impute = _checked(impute, names)
    draft = Design(
        name=check_trial_name(name),
        policy=policy if isinstance(policy, str) else str(policy),
        arms=names,
        seed=secrets.randbits(63) if seed is None else check_seed(seed),
        horizon=horizon,
        reward_values=tuple(sorted({check_reward("reward", value) for value in reward_values})),
        blinded=blinded,
        repeats=repeats,
        impute=impute,
    )
    engine = draft.engine()
    if impute is not None and impute.reward is not None:
        engine.check_reward(impute.reward)
    return msgspec.structs.replace(draft, policy=str(engine.policy))


def _checked(impute: Imputation, arms: tuple[str, ...]) -> Imputation:
    days = impute.after_days
    if not is_number(days) or not 0.0 < days <= MAX_DAYS:
        raise InputError("impute.after_days", days, "a number of days above 0")
    reward = None if impute.reward is None else check_reward("reward", impute.reward)
    if arm_taken(arms, impute.actual, impute.took_nothing) is None and reward is None:
        expected = "what to count as taken (actual, took_nothing), a reward, or both"
        raise InputError("impute", None, expected, f"impute says nothing to assume; expected {expected}")
    return msgspec.structs.replace(impute, reward=reward)
