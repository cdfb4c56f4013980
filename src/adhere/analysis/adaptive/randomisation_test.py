"""Randomisation test by replay: is the observed difference larger than the allocation alone would produce?"""

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
_SAME = 1e-9  # tolerance of probabilities: another machine's mathematical library may differ in the last bits
_TIE = 1e-9  # tolerance within which two differences count as equal


@dataclass(frozen=True, eq=False)
class LoggedAllocation:
    """Allocation of a trial: how arms were drawn, and what its policy knew at each time.

    If the log is not sufficient for a replay, `reason` says why.
    """

    arms: tuple[str, ...]
    policy: str
    horizon: int | None
    reward_values: tuple[float, ...]
    keys: Words | None  # one row: the key that drew the arms; None if a secret draws them
    schedule: Schedule
    chosen: Ints
    reward: Floats  # rewards that the policy learned from, by row of the schedule
    outcome: Floats  # outcome of each patient, NaN if unknown
    reason: str = ""
    probabilities: Floats | None = None  # logged probabilities by patient and arm; NaN if the policy had failed


@dataclass(frozen=True)
class RandomisationTest:
    """Test of the sharp null for a pair of arms: no outcome or time of its report depends on the arm told.

    `statistic` is the intention-to-treat difference. If the test was not run, `reason` says why.
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
    """Test every arm against control by redrawing the allocation, with outcomes and times of reports fixed.

    The p-value is (1 + #{|T*| ≥ |T|}) / (1 + n_redraws). T is the difference between the mean outcomes of patients
    told the arm and patients told control; T* is 0 if a redraw leaves either group without an outcome. The p-value is
    exact, because under the sharp null the logged allocation is one more draw. It is not exact if the trial was
    stopped because of the difference seen so far. `on_progress` is called with the number of redraws completed since
    the last call.
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
        except Exception as error:  # a user's policy may fail in a redraw
            reason = f"the policy failed when its allocation was redrawn: {error}"
    return tuple(_test(logged, arm, control, observed, totals, reason) for arm in arms)


def why_not_exact(policy: Policy, n_arms: int) -> str:
    """Return why a policy's allocation cannot be redrawn with outcomes fixed, or an empty string if it can.

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
    """Redraw the allocation and sum outcomes by arm.

    Return None if the trial's own key does not reproduce the logged allocation.

    If a secret drew the arms, there is no key for this check. Only the version then shows that the policy is the
    same.
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
    """Return each run's difference (0 if an arm has no outcome), and whether both arms of the first run have one."""
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
