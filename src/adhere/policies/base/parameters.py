"""Parameters and options of a policy, checked when the policy is made."""

import math
from collections.abc import Callable
from dataclasses import field
from typing import Any

import numpy as np

from adhere.checks import check_text, is_integer, is_number
from adhere.errors import InputError, nearest
from adhere.policies.base.policy import MAX_DEPTH, Policy


def parameter(
    *,
    default: float | None,
    above: float = -math.inf,
    at_least: float = -math.inf,
    at_most: float = math.inf,
    from_horizon: Callable[[int, int], float] | None = None,
    symbol: str = "",
    whole: bool = False,
    infinite: bool = False,
) -> Any:
    """Declare a numeric parameter and its allowed range. If its default is None, the policy sets the number.

    With `from_horizon`, the policy sets it before a trial, from the number of arms and the horizon. An error that
    asks for the horizon calls the number by its `symbol`. A `whole` number is an int. An `infinite` one may also be
    inf.
    """
    lowest = f"above {above:g}" if above > -math.inf else f"at least {at_least:g}" if at_least > -math.inf else ""
    highest = f"at most {at_most:g}" if at_most < math.inf else ""
    kind = "a whole number" if whole else "a number"
    expected = " ".join([kind, *" and ".join(part for part in (lowest, highest) if part).split()])
    expected += ", or inf" if infinite else ""

    def check(name: str, value: object) -> float | int | None:
        if value is None and default is None:
            return None
        if infinite and value == "inf":  # JSON writes infinity like this
            return math.inf
        try:
            number = float(value) if is_number(value) else math.nan
        except OverflowError:
            number = math.inf
        is_allowed = math.isfinite(number) or (infinite and number == math.inf)
        is_inside = above < number and at_least <= number <= at_most
        if not (is_allowed and is_inside and (not whole or number.is_integer())):
            raise InputError(name, value, expected)
        return int(number) if whole else number

    return field(default=default, metadata={"check": check, "from_horizon": from_horizon, "symbol": symbol})


def horizon_parameter(policy: str, at_most: int, afterwards: str) -> Any:
    """Declare the number of patients that a policy with tables plans for; by default the number in the trial.

    The tables cover at most `at_most` patients. The policy may continue after them without its tables.
    """

    def from_horizon(n_arms: int, horizon: int) -> int:
        if horizon > at_most:
            sentence = (
                f"{policy} is computed for at most {at_most:,} patients (got {horizon:,}); "
                f"{policy}(horizon={at_most}) goes on with the {afterwards} mean after them"
            )
            raise InputError("horizon", horizon, f"at most {at_most} patients", sentence)
        return horizon

    symbol = f"the patients that {policy} plans for"
    return parameter(default=None, at_least=1, at_most=at_most, whole=True, from_horizon=from_horizon, symbol=symbol)


def flag(*, default: bool) -> Any:
    """Declare an option of a policy that is on or off."""

    def check(name: str, value: object) -> bool:
        if not isinstance(value, (bool, np.bool_)):
            raise InputError(name, value, "true or false")
        return bool(value)

    return field(default=default, metadata={"check": check})


def choice(*, default: str, options: tuple[str, ...]) -> Any:
    """Declare an option of a policy whose value is one of a few words."""

    def check(name: str, value: object) -> str:
        if value not in options:
            raise InputError(name, value, nearest(str(value), options))
        return str(value)

    return field(default=default, metadata={"check": check, "options": options})


def arm_parameter() -> Any:
    """Declare an arm of the trial: its name as text, or its index from 0 (`TrialShape.index_of`). It is always
    required.

    Compiled functions see the index, as a float.
    """

    def check(name: str, value: object) -> str | int:
        if is_integer(value) and value >= 0:
            return int(value)
        if not isinstance(value, str):
            raise InputError(name, value, "the name of an arm, or its number from 0")
        return check_text(name, value)

    return field(default=None, metadata={"check": check, "bare": True, "is_arm": True})


def any_policy(example: str) -> dict[str, Any]:
    """Return the metadata of a field that takes any policy and is written without its name: `floor(thompson)`."""

    def check(name: str, value: object) -> Policy:
        if not isinstance(value, Policy):
            raise InputError(name, value, f"a policy, e.g. {example}")
        if value.depth >= MAX_DEPTH:
            raise InputError(name, str(value), f"at most {MAX_DEPTH} policies inside each other")
        return value

    return {"check": check, "bare": True, "is_policy": True}
