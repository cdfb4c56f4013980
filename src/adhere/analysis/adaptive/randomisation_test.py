"""The randomisation test by replay: is the difference larger than the allocation alone would make it?"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from adhere.analysis.adaptive.policy_play import Allocator, Schedule, Totals
from adhere.analysis.records import Floats, Ints
from adhere.analysis.sentences import say
from adhere.policies import as_policy
from adhere.policies.base.policy import AnyLearner, Policy
from adhere.protocols import TOOK_NOTHING
from adhere.randomness import Words, stream_keys

N_REDRAWS = 10_000
_NOT_RUN = "The randomisation test by replay was not run:"
_SAME = 1e-9  # of probabilities: another machine's mathematical library may differ in the last bits
_TIE = 1e-9  # differences closer than this are equal but for rounding


@dataclass(frozen=True, eq=False)
class LoggedAllocation:
    """How a trial's arms were drawn, with all that its policy knew and when; `reason` says why that is not enough."""

    arms: tuple[str, ...]
    policy: str
    horizon: int | None
    reward_values: tuple[float, ...]
    keys: Words | None  # by which the arms were drawn, one row; None where a secret draws them
    schedule: Schedule
    chosen: Ints
    reward: Floats  # that the policy learned from, by row of the schedule
    outcome: Floats  # of each patient, NaN where it is not known
    reason: str = ""
    probabilities: Floats | None = None  # logged, by patient and arm; NaN where the policy had failed


@dataclass(frozen=True)
class RandomisationTest:
    """The test of "no patient's outcome, nor when it is reported, depends on the arm told", for a pair of arms.

    `statistic` is the intention-to-treat difference. Where the test was not run, `reason` says why.
    """

    treatment: str
    control: str
    statistic: float | None
    p_value: float | None
    n_redraws: int
    exact: bool
    reason: str


def randomisation_tests(
    logged: LoggedAllocation,
    control: int = 0,
    n_redraws: int = N_REDRAWS,
    seed: int = 0,
    on_progress: Callable[[int], None] = lambda n: None,
) -> tuple[RandomisationTest, ...]:
    """Redraw the allocation by the logged policy, outcomes and times of reports fixed; every arm against control.

    The p-value is (1 + #{|T*| ≥ |T|}) / (1 + n_redraws), T the difference of mean outcomes of those told the arm and
    those told control; T* is 0 where a redraw leaves either without an outcome. It is exact: under the sharp null the
    logged allocation is one more draw, unless the trial was stopped because of the difference seen so far.
    `on_progress` is told how many redraws were done since the last time.
    """
    observed, arms = _observed(logged), [arm for arm in range(len(logged.arms)) if arm != control]
    reason = logged.reason or why_not_exact(as_policy(logged.policy), len(logged.arms))
    totals = None
    if not reason and any(_difference(observed, arm, control)[1] for arm in arms):
        try:
            totals = _redraw(logged, stream_keys(seed, 1, n_redraws), on_progress)  # run 0 may be the trial itself
            reason = "" if totals else say("other_draws")
        except (MemoryError, OSError):
            raise
        except Exception as error:  # a policy of one's own may fail at what no patient of the trial was told
            reason = f"the policy failed when its allocation was redrawn: {error}"
    return tuple(_test(logged, arm, control, observed, totals, reason) for arm in arms)


def why_not_exact(policy: Policy, n_arms: int) -> str:
    """Why a policy's allocation cannot be redrawn with the outcomes of a trial fixed; nothing if it can.

    >>> why_not_exact(as_policy("floor(thompson)"), 2)
    ''
    """
    others = [str(one) for one in policy.learners() if not one.is_certified(n_arms) and one.name != "uniform"]
    hybrids = [one for one in policy.parts() if not isinstance(one, AnyLearner)]
    unknown = [one.name for one in hybrids if type(one).__module__.partition(".")[0] != "adhere"]
    if others:
        who = f"the policy {policy}" if others == [str(policy)] else f"a part of the policy, {others[0]},"
        return say("learns_from_taken", who=who)
    if unknown:
        return f"{unknown[0]} is a policy of one's own around others, which may learn from what was taken"
    return ""


def _redraw(logged: LoggedAllocation, keys: Words, on_progress: Callable[[int], None]) -> Totals | None:
    """Outcomes by arm under other allocations; None if the logged one does not come out again by its own key.

    Where a secret drew the arms there is no such key, and only the version of the policy says that it is the same.
    """
    shape = (len(logged.reward), len(logged.arms))
    allocator = Allocator(
        logged.policy, logged.arms, logged.schedule, horizon=logged.horizon, reward_values=logged.reward_values
    )
    rewards = np.broadcast_to(logged.reward[:, None], shape)
    if logged.keys is not None:
        played = allocator.play(np.full(shape, TOOK_NOTHING), rewards, logged.keys)
        if not np.array_equal(played.chosen[0], logged.chosen):
            return None
        if logged.probabilities is not None:
            known = ~np.isnan(logged.probabilities)
            if np.any(np.abs(logged.probabilities - played.probabilities[0])[known] > _SAME):
                return None
    return allocator.redraw(logged.reward, logged.outcome, keys, on_progress)


def _observed(logged: LoggedAllocation) -> Totals:
    known, n_arms = ~np.isnan(logged.outcome), len(logged.arms)
    chosen, outcome = logged.chosen[known], logged.outcome[known]
    sums: Floats = np.bincount(chosen, weights=outcome, minlength=n_arms).astype(float)
    return Totals(sums[None], np.bincount(chosen, minlength=n_arms)[None])


def _difference(totals: Totals, treatment: int, control: int) -> tuple[Floats, bool]:
    """The difference of each run, 0 where either arm has no outcome; whether the first run has both."""
    counts = totals.counts[:, [treatment, control]]
    means = totals.sums[:, [treatment, control]] / np.maximum(1, counts)
    both = counts.min(axis=1) > 0
    return np.where(both, means[:, 0] - means[:, 1], 0.0), bool(both[0])


def _test(
    logged: LoggedAllocation, treatment: int, control: int, observed: Totals, redrawn: Totals | None, reason: str
) -> RandomisationTest:
    pair = logged.arms[treatment], logged.arms[control]
    difference, is_known = _difference(observed, treatment, control)
    if not is_known:
        without = next(arm for arm in (treatment, control) if observed.counts[0, arm] == 0)
        why = reason or f"no outcome is known of anyone told {logged.arms[without]!r}"
        return RandomisationTest(*pair, None, None, 0, False, f"{_NOT_RUN} {why}.")
    statistic = float(difference[0])
    if redrawn is None:
        return RandomisationTest(*pair, statistic, None, 0, False, f"{_NOT_RUN} {reason}.")
    redraws = _difference(redrawn, treatment, control)[0]
    n_as_large = int(np.sum(np.abs(redraws) >= abs(statistic) - _TIE))
    p_value = (1 + n_as_large) / (1 + len(redraws))
    return RandomisationTest(*pair, statistic, p_value, len(redraws), True, "")
