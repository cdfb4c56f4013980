"""Search for a parameter on the same patients, and its confirmation by fresh trials."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import NormalDist, fmean, variance
from typing import NamedTuple, TypeAlias

from adhere.errors import InputError
from adhere.evaluation.search.search import Range, Scale, Search
from adhere.intervals import Estimate

_MAX_STEPS = 100_000  # steps of the continued fraction, which needs about the root of the number of trials
_SMALLEST = 1e-300


def clopper_pearson(successes: int, n: int, level: float = 0.95) -> tuple[float, float]:
    """Return Clopper and Pearson's (1934) limits of a share; each fails with probability (1 - level) / 2 at most.

    >>> [round(limit, 4) for limit in clopper_pearson(45, 1000)]
    [0.033, 0.0598]
    """
    tail, failures = (1.0 - level) / 2.0, n - successes
    low = 0.0 if successes == 0 else _root(lambda p: _beta_cdf(p, successes, failures + 1) - tail)
    high = 1.0 if failures == 0 else _root(lambda p: _beta_cdf(p, successes + 1, failures) - (1.0 - tail))
    return low, high


def _root(rising: Callable[[float], float]) -> float:
    low, high = 0.0, 1.0
    while high - low > 1e-9:
        middle = (low + high) / 2.0
        low, high = (low, middle) if rising(middle) > 0.0 else (middle, high)
    return (low + high) / 2.0


def _beta_cdf(p: float, a: float, b: float) -> float:
    """Compute the incomplete Beta function by its continued fraction (Lentz's method; DLMF 8.17.22)."""
    if p > (a + 1.0) / (a + b + 2.0):
        return 1.0 - _beta_cdf(1.0 - p, b, a)
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(p) + b * math.log1p(-p)
    fraction, c, d = 1.0, 1.0, 0.0
    for step in range(_MAX_STEPS):
        m = step // 2
        if step == 0:
            term = 1.0
        elif step % 2:
            term = -(a + m) * (a + b + m) * p / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            term = m * (b - m) * p / ((a + 2 * m - 1) * (a + 2 * m))
        d = 1.0 / (1.0 + term * d or _SMALLEST)
        c = 1.0 + term / c or _SMALLEST
        fraction *= c * d
        if step and abs(c * d - 1.0) < 1e-14:
            break
    return math.exp(log_front) * (fraction - 1.0) / a


LEVEL = 0.95  # simultaneous level of the limits of all scenarios
_ALPHAS = (0.04, 0.01)  # of the two tries to confirm a conservative parameter; their sum is 1 - LEVEL
_MIN_ERRORS = 10  # expected errors that the trials of a scenario need
_NEAREST, _FARTHEST = 0.88, 0.8  # lowest aims of the first and second try, relative to the target
_NEAR = 2.5  # probits from the target; rates further away may be off the line
_normal = NormalDist()
_probit = _normal.inv_cdf

# Return the error rate in each scenario, given the parameter, the number of trials and a seed.
Errors: TypeAlias = Callable[[float, int, int], tuple[float, ...]]


class Tried(NamedTuple):
    """Parameter value that was tried, with the number of trials, the seed, and the error rate in each scenario."""

    number: float
    n_trials: int
    seed: int
    errors: tuple[float, ...]


@dataclass(frozen=True)
class ConfirmedNumber:
    """Parameter value, its error rate in each scenario in fresh trials, and all values tried (including it).

    The intervals of all rates are simultaneous at `LEVEL`. For a conservative value the upper limits are.
    """

    number: float
    errors: tuple[Estimate, ...]
    tried: tuple[Tried, ...]
    target: float
    conservative: bool = False

    @property
    def worst(self) -> int:
        """Index of the scenario with the highest rate."""
        return max(range(len(self.errors)), key=lambda index: self.errors[index].mean)

    @property
    def upper_limit(self) -> float:
        """Simultaneous upper limit of all rates, at `LEVEL`."""
        return max(error.high for error in self.errors if error.high is not None)

    @property
    def is_confirmed(self) -> bool:
        """Return whether fresh trials confirm the value.

        They do unless they show, at `LEVEL`, that a scenario's rate is above the target. For a conservative value
        they must show that no rate is above it.
        """
        if self.conservative:
            return self.upper_limit <= self.target
        return all(error.low is not None and error.low <= self.target for error in self.errors)

    def in_words(self, limit: str, promise: str) -> str:
        """Return a sentence on the limit that fresh trials showed, and on whether it confirms the promise."""
        if self.is_confirmed:
            return limit[0].upper() + limit[1:]
        return f"Not confirmed to be {promise}: {limit} More trials can tell better."


def find_number(
    errors: Errors,
    n_scenarios: int,
    target: float,
    within: Range,
    start: float | None,
    n_trials: int,
    seed: int,
    on_tried: Callable[[Tried], None] | None = None,
    *,
    conservative: bool = False,
) -> ConfirmedNumber:
    """Search for the parameter value at which the worst rate is a target, and confirm it with fresh trials.

    The search uses one seed (common random numbers), and the fresh trials use the next one. If they contradict the
    value, a value between the results of the search and of the fresh trials is tried with the seed after that.

    A conservative value has a worst rate far enough below the target that fresh trials can confirm it. If they do
    not, a stricter value is tried, unless there are so few trials that it would have to be much stricter than the
    target. An `InputError` is raised if even trials without any error would be too few to confirm a value.
    """
    _check_enough(n_trials, target, n_scenarios, conservative)
    tried: list[Tried] = []

    def try_out(number: float, n: int, with_seed: int) -> tuple[float, ...]:
        tried.append(Tried(number, n, with_seed, errors(number, n, with_seed)))
        if on_tried is not None:
            on_tried(tried[-1])
        return tried[-1].errors

    def worst(rates: tuple[float, ...], n: int) -> float:
        return max(rates) if conservative else worst_rate(rates, n)

    def confirm(number: float, alpha: float, fresh: int) -> ConfirmedNumber:
        rates = try_out(number, n_trials, (seed + fresh) % 2**64)
        found = []
        for rate in rates:
            limits = clopper_pearson(round(rate * n_trials), n_trials, 1.0 - alpha / n_scenarios)
            found.append(Estimate(rate, math.sqrt(rate * (1.0 - rate) / n_trials), *limits))
        return ConfirmedNumber(number, tuple(found), tuple(tried), target, conservative)

    # The limits of a conservative value are one-sided.
    alphas = (
        tuple(2.0 * one for one in _alphas(target, n_scenarios, n_trials)) if conservative else 2 * (1.0 - LEVEL,)
    )
    aimed = aim(target, n_scenarios, n_trials) if conservative else target
    search = Search(lambda number, n: worst(try_out(number, n, seed), n), aimed, within)
    number = search.find(start, n_trials)
    confirmed = confirm(number, alphas[0], 1)
    if not confirmed.is_confirmed and len(alphas) > 1:
        fresh = worst(confirmed.tried[-1].errors, n_trials)
        rate = (aimed + fresh) / 2.0  # the mean of the search's rate and that of fresh trials
        wanted = _aim_to_confirm(target, n_scenarios, n_trials, _ALPHAS[1]) if conservative else target
        stricter = search.stricter(number, _probit(max(rate, aimed)) - _probit(wanted))
        confirmed = confirm(stricter, alphas[1], 2)
    return confirmed


def worst_rate(rates: Sequence[float], n_trials: int) -> float:
    """Estimate the highest of several rates without the bias of picking the highest.

    Rates are shrunk towards their mean by the share of their variance that sampling error explains (empirical Bayes).
    Rates that differ only by chance count as one.

    >>> round(worst_rate([0.05, 0.051, 0.049], 1_000), 4), round(worst_rate([0.02, 0.09, 0.021], 1_000), 4)
    (0.05, 0.0888)
    """
    mean = fmean(rates)
    spread = variance(rates) if len(rates) > 1 else 0.0
    kept = max(0.0, 1.0 - mean * (1.0 - mean) / n_trials / spread) if spread else 1.0
    return mean + kept * (max(rates) - mean)


def aim(target: float, n_scenarios: int, n_trials: int) -> float:
    """Return the rate to aim at first, so that fresh trials can confirm that the rate is at most the target."""
    first = _alphas(target, n_scenarios, n_trials)[0]
    return max(_NEAREST * target, _aim_to_confirm(target, n_scenarios, n_trials, first))


def _alphas(target: float, n_scenarios: int, n_trials: int) -> tuple[float, ...]:
    """Return the error probability of each try; there is no second try if its value would be much stricter."""
    second = _aim_to_confirm(target, n_scenarios, n_trials, _ALPHAS[1])
    return _ALPHAS if second >= _FARTHEST * target else (1.0 - LEVEL,)


def _aim_to_confirm(target: float, n_scenarios: int, n_trials: int, alpha: float) -> float:
    """Return a rate whose upper limit should lie below the target, with one standard error to spare."""
    return target - (1.0 - _probit(alpha / n_scenarios)) * math.sqrt(target * (1.0 - target) / n_trials)


def crossing(tried: Sequence[Tried], target: float, scale: Scale) -> float | None:
    """Estimate the parameter value at which the worst rate is the target, by a line through probits of rates.

    The line is fitted by least squares weighted by precision, to rates not too far from the target. Return None if
    the estimate is outside the values tried.
    """
    near = [
        (scale.to(one.number), _probit(rate) - _probit(target), one.n_trials * _information(rate))
        for one in tried
        if 0.0 < (rate := max(one.errors)) < 1.0 and abs(_probit(rate) - _probit(target)) < _NEAR
    ]
    places = {place for place, _, _ in near}
    if len(places) < 2:
        return None
    total = sum(weight for _, _, weight in near)
    middle = sum(weight * place for place, _, weight in near) / total
    excess = sum(weight * above for _, above, weight in near) / total
    spread = sum(weight * (place - middle) ** 2 for place, _, weight in near)
    slope = sum(weight * (place - middle) * above for place, above, weight in near) / spread
    at = middle - excess / slope if slope else math.inf
    return scale.back(at) if min(places) <= at <= max(places) else None


def _information(rate: float) -> float:
    """Return the information (1 / variance) of one trial on the probit of a rate."""
    return _normal.pdf(_probit(rate)) ** 2 / (rate * (1.0 - rate))


def _check_enough(n_trials: int, target: float, n_scenarios: int, conservative: bool) -> None:
    """Refuse too few trials: if none of n trials errs, the upper limit is 1 - alpha^(1/n)."""
    if conservative:
        fewest = math.ceil(math.log((1.0 - LEVEL) / n_scenarios) / math.log1p(-target))
        why = f" to show a rate of {target:.6g}: fewer cannot, even if none of them errs"
    else:
        fewest = math.ceil(round(_MIN_ERRORS / target, 6))
        why = f", so that about {_MIN_ERRORS} of them err"
    if n_trials < fewest:
        raise InputError("n_trials", n_trials, f"at least {fewest:,}{why}")


def confirmed_with(seed: int, last: int, conservative: bool) -> str:
    """Describe the seeds of the fresh trials, given the seeds of the search and of the last trials.

    >>> confirmed_with(0, 1, conservative=False)
    'fresh trials with seed 1'
    """
    if last == (seed + 1) % 2**64:
        return f"fresh trials with seed {last}"
    first, second = _ALPHAS
    other = (
        f"a stricter one (the two tries share the {1.0 - LEVEL:.0%} of doubt, {first:.0%} and {second:.0%})"
        if conservative
        else "one between what the search and they said"
    )
    first_seed = (seed + 1) % 2**64
    return f"fresh trials with seed {first_seed} did not confirm a first one, those with seed {last} are of {other}"
