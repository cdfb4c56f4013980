"""What the next look at a trial would compare with its thresholds, if it were made now. It is not a look."""

from __future__ import annotations

from msgspec import convert

from adhere.design.look_thresholds import LookNames
from adhere.looks.judge import NAMES
from adhere.trial.domain.state import TrialState
from adhere_client.responses.monitor import PresentValues
from adhere_client.responses.trials import ArmAtLook, LookThreshold


def present_values(state: TrialState) -> PresentValues | None:
    """The present values; None where no look is to come, or its rule would have to play all patients again."""
    looks, looker, design = state.looks, state.looker, state.design
    if looks is None or looker is None or state.status == "closed":
        return None
    plan, number = looker.plan, looks.next_look
    if number >= plan.n_looks or looker.needs_patients:
        return None
    names = LookNames(design)
    thresholds = names.thresholds(number)
    if not thresholds:
        return None
    beliefs = state.engine.beliefs(state.policy_state, state.n_recommendations) if looker.needs_beliefs else ()
    found = looker.find(number, looks, beliefs, ())
    n_days = len(plan.days)
    return PresentValues(
        look=number + 1,
        outcomes=looks.n_outcomes,
        arms=[
            ArmAtLook(arm, NAMES[looks.status[i]], names.named(found.values[i])) for i, arm in enumerate(design.arms)
        ],
        thresholds=convert(thresholds, dict[str, LookThreshold], from_attributes=True),
        due_at=None if number < n_days else plan.counts[number - n_days],
        due_day=plan.days[number] if number < n_days else None,
    )
