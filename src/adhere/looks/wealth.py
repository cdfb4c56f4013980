"""Look by wealth: judges each arm by bets on its effect against the control."""

from typing import Any

from adhere.compilation import implements
from adhere.looks.judge import (
    BY_INFERIORITY,
    BY_SUPERIORITY,
    N_VALUES,
    WealthRules,
    status_against_control,
    status_of,
)


@implements(status_against_control, WealthRules)
def wealth_against_control(rules: Any, look: int, arm: int, evidence: Any, values: Any) -> int:
    """Judge an arm by the largest wealth so far of the bets that it is better or worse than the control."""
    up, down, first = evidence.log_up[arm], evidence.log_down[arm], arm * N_VALUES
    values[first + BY_SUPERIORITY], values[first + BY_INFERIORITY] = up, down
    return status_of(up >= rules.log_threshold, down >= rules.log_threshold, False, False)
