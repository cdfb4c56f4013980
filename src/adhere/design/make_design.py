"""Make a design from what a user entered, or explain what is wrong with it."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from adhere.checks import MAX_NAME_LENGTH, check_reward, check_text, is_number
from adhere.decode_errors import misfit
from adhere.design.arms import arm_taken, check_arm_names
from adhere.design.checks import check
from adhere.design.design import Design, plain
from adhere.design.parts import Imputation
from adhere.errors import InputError, short
from adhere.policies import as_policy

MAX_REWARD_VALUES = 100
MAX_DAYS = 36500.0


def make_design(name: str, policy: object, arms: Sequence[str], **fields: Any) -> Design:
    """Return a valid design with these fields of `Design`; a field that is None gets its default value.

    >>> make_design("headache", "thompson/actual", ["walk", "aspirin"]).policy
    'thompson/actual'
    """
    given = {field: value for field, value in fields.items() if value is not None}
    if "reward_values" in given:
        given["reward_values"] = _check_reward_values(given["reward_values"])
    return design_of({"name": name, "policy": policy, "arms": check_arm_names(arms), **given})


def design_of(fields: Mapping[str, Any]) -> Design:
    """Return the design with these fields; raise an `InputError` that names the field if it is not valid."""
    given = dict(fields)
    if "policy" in given:
        given["policy"] = str(as_policy(given["policy"]))
    told = plain(given)
    try:
        design = msgspec.convert(told, Design)
    except msgspec.ValidationError as error:
        raise misfit(error, told, Design, _shown, whole="design") from None
    return _checked(design)


def checked(design: Design) -> Design:
    """Return the same design; raise an `InputError` that names the field if it is not valid."""
    return design_of(plain(design))


def _checked(design: Design) -> Design:
    names = check_arm_names(design.arms)
    for arm in names:
        if '"' in arm:  # arms become column names
            raise InputError("arms", arm, "a name without a quotation mark")
    impute = None if design.impute is None else _check_impute(design.impute, names)
    values = _check_reward_values(design.reward_values)
    valid = msgspec.structs.replace(
        design,
        name=check_trial_name(design.name),
        arms=names,
        reward_values=values,
        impute=impute,
        outcome_words=_check_outcome_words(design.outcome_words, values, design.lower_is_better),
    )
    policy = valid.policy_in_trial()
    if impute is not None and impute.reward is not None:
        policy.check_reward(impute.reward)
    check(valid)
    return valid


def check_trial_name(name: object) -> str:
    """Check and return a name that can be part of a URL."""
    text = check_text("name", name)
    if "/" in text:
        raise InputError("name", name, "a name without a slash")
    if text in (".", ".."):  # in a URL they mean this folder and the folder above
        raise InputError("name", name, "a name with more than dots")
    return text


def _check_reward_values(values: object) -> tuple[float, ...]:
    if not isinstance(values, Sequence) or len(values) > MAX_REWARD_VALUES:
        raise InputError("reward_values", values, f"at most {MAX_REWARD_VALUES} rewards that can occur")
    return tuple(sorted({check_reward("reward", value) for value in values}))


def _check_outcome_words(
    words: Mapping[str, float], values: tuple[float, ...], lower_is_better: bool
) -> dict[str, float]:
    """Check the words for rewards and return them, worst first: none, or one for each possible reward."""
    said = {check_text("outcome_words", word): check_reward("outcome_words", words[word]) for word in words}
    expected = f"one word for each of reward_values ({', '.join(f'{value:g}' for value in values)})"
    if said and tuple(sorted(said.values())) != values:
        raise InputError("outcome_words", dict(words), expected)
    if len({word.casefold() for word in said}) < len(words):
        raise InputError("outcome_words", dict(words), "words that look different")
    return dict(sorted(said.items(), key=lambda item: item[1], reverse=lower_is_better))


def _check_impute(impute: Imputation, arms: tuple[str, ...]) -> Imputation:
    days = impute.after_days
    if not is_number(days) or not 0.0 < days <= MAX_DAYS:
        raise InputError("impute.after_days", days, "a number of days above 0")
    reward = None if impute.reward is None else check_reward("reward", impute.reward)
    if arm_taken(arms, impute.actual, impute.took_nothing) is None and reward is None:
        expected = "what to count as taken (actual, took_nothing), a reward, or both"
        raise InputError("impute", None, expected, f"impute says nothing to assume; expected {expected}")
    return msgspec.structs.replace(impute, reward=reward)


def _shown(value: object) -> str:
    return value if isinstance(value, str) and len(value) < MAX_NAME_LENGTH else short(value)
