"""Whether the intention-to-treat estimate contradicts a recommended stop, for the banner that asks to confirm it."""

from __future__ import annotations

from collections.abc import Iterable

from adhere_client.responses.monitor import Effect, Monitor
from adhere_client.responses.trials import Look

_ITT = "intention-to-treat"


def points_the_other_way(monitor: Monitor) -> bool:
    """Whether a look recommends to stop, and the any-time valid intention-to-treat estimate favours another arm."""
    stop = next((look for look in monitor.looks if look.is_stop), None)
    if stop is None or monitor.status == "closed":
        return False
    found = [effect for effect in monitor.effects if effect.view == _ITT and effect.is_any_time_valid]
    return any(_contradicts(stop, effect) for effect in found)


def _contradicts(stop: Look, effect: Effect) -> bool:
    value = effect.estimate.value
    if value is None:
        return False
    better, worse = set(_arms(stop, "superior")), set(_arms(stop, "inferior"))
    if stop.decision == "superior" and stop.selected is not None:
        better.add(stop.selected)
    favours_treatment = effect.treatment in better or effect.control in worse
    favours_control = effect.control in better or effect.treatment in worse
    return (favours_treatment and value < 0.0) or (favours_control and value > 0.0)


def _arms(stop: Look, status: str) -> Iterable[str]:
    return (arm.arm for arm in stop.arms if arm.status == status)
