"""A number found by a search among the same patients, and what fresh trials say of it."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import NormalDist, fmean, variance
from typing import NamedTuple, TypeAlias

from adhere.errors import InputError
from adhere.evaluation.search.search import Range, Scale, Search
from adhere.intervals import Estimate

_MAX_STEPS = 100_000  # of the continued fraction; it needs about the root of the number of trials
_SMALLEST = 1e-300


def clopper_pearson(successes: int, n: int, level: float = 0.95) -> tuple[float, float]:
    """Exact limits of a proportion (Clopper & Pearson 1934); each is wrong with at most half of 1 - level.

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
    """The incomplete Beta function, by its continued fraction (Lentz's method; DLMF 8.17.22)."""
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


LEVEL = 0.95  # at which the limits of all scenarios hold together
_ALPHAS = (0.04, 0.01)  # of both tries to confirm a conservative number; together they are 1 - LEVEL
_MIN_ERRORS = 10  # in the trials of a scenario, to search for a rate
_NEAREST, _FARTHEST = 0.88, 0.8  # of the target: where a first and a second number may aim, however few the trials
_NEAR = 2.5  # probits from the target: farther ones may be off the line
_normal = NormalDist()
_probit = _normal.inv_cdf

# The rates of error in all scenarios with a number, so many trials and a seed.
Errors: TypeAlias = Callable[[float, int, int], tuple[float, ...]]


class Tried(NamedTuple):
    """A number that was tried: in how many trials, with which seed, and the rate of error in each scenario."""

    number: float
    n_trials: int
    seed: int
    errors: tuple[float, ...]


@dataclass(frozen=True)
class ConfirmedNumber:
    """A number, the rate of error in each scenario in fresh trials, and all that was tried, the last one included.

    The intervals of all rates hold together, at `LEVEL`; of a conservative number their upper limits do.
    """

    number: float
    errors: tuple[Estimate, ...]
    tried: tuple[Tried, ...]
    target: float
    conservative: bool = False

    @property
    def worst(self) -> int:
        """Which scenario has the highest rate."""
        return max(range(len(self.errors)), key=lambda index: self.errors[index].mean)

    @property
    def upper_limit(self) -> float:
        """What no scenario's rate is above, at `LEVEL`."""
        return max(error.high for error in self.errors if error.high is not None)

    @property
    def is_confirmed(self) -> bool:
        """Whether fresh trials confirm the number.

        They do unless they show, at `LEVEL`, that a scenario's rate is above the target. For a conservative number
        they must show that none is.
        """
        if self.conservative:
            return self.upper_limit <= self.target
        return all(error.low is not None and error.low <= self.target for error in self.errors)

    def in_words(self, limit: str, promise: str) -> str:
        """A sentence on the limit that fresh trials showed, which begins with what they do not confirm."""
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
    """Search for the number at which the worst rate is a target, and try it on fresh trials.

    The search has one seed throughout (common random numbers), and the fresh trials have the next one. If they
    contradict the number, one between what the search and what they say is tried with the seed after that.

    A conservative number has a worst rate so far below the target that fresh trials can confirm it. If they do not, a
    stricter one is tried; but not with so few trials that it would have to be much stricter than the target asks for.
    So few trials that even those without an error would not confirm a number are refused.
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

    # A conservative number's limits are one-sided.
    alphas = (
        tuple(2.0 * one for one in _alphas(target, n_scenarios, n_trials)) if conservative else 2 * (1.0 - LEVEL,)
    )
    aimed = aim(target, n_scenarios, n_trials) if conservative else target
    search = Search(lambda number, n: worst(try_out(number, n, seed), n), aimed, within)
    number = search.find(start, n_trials)
    confirmed = confirm(number, alphas[0], 1)
    if not confirmed.is_confirmed and len(alphas) > 1:
        fresh = worst(confirmed.tried[-1].errors, n_trials)
        rate = (aimed + fresh) / 2.0  # the search says the aim, fresh trials say this
        wanted = _aim_to_confirm(target, n_scenarios, n_trials, _ALPHAS[1]) if conservative else target
        stricter = search.stricter(number, _probit(max(rate, aimed)) - _probit(wanted))
        confirmed = confirm(stricter, alphas[1], 2)
    return confirmed


def worst_rate(rates: Sequence[float], n_trials: int) -> float:
    """Estimate the highest of several rates, without what picking the highest of them adds.

    Every rate is drawn towards their mean by the share of their variance that so many trials explain (empirical
    Bayes): rates that differ by chance alone count as one.

    >>> round(worst_rate([0.05, 0.051, 0.049], 1_000), 4), round(worst_rate([0.02, 0.09, 0.021], 1_000), 4)
    (0.05, 0.0888)
    """
    mean = fmean(rates)
    spread = variance(rates) if len(rates) > 1 else 0.0
    kept = max(0.0, 1.0 - mean * (1.0 - mean) / n_trials / spread) if spread else 1.0
    return mean + kept * (max(rates) - mean)


def aim(target: float, n_scenarios: int, n_trials: int) -> float:
    """The rate that a first number aims at, so that so many fresh trials confirm that it is at most the target."""
    first = _alphas(target, n_scenarios, n_trials)[0]
    return max(_NEAREST * target, _aim_to_confirm(target, n_scenarios, n_trials, first))


def _alphas(target: float, n_scenarios: int, n_trials: int) -> tuple[float, ...]:
    """Of each try to confirm a number: one try where so few trials would make a second number much stricter."""
    second = _aim_to_confirm(target, n_scenarios, n_trials, _ALPHAS[1])
    return _ALPHAS if second >= _FARTHEST * target else (1.0 - LEVEL,)


def _aim_to_confirm(target: float, n_scenarios: int, n_trials: int, alpha: float) -> float:
    """So far below the target that limits should be below it, with one standard error for what may be missed."""
    return target - (1.0 - _probit(alpha / n_scenarios)) * math.sqrt(target * (1.0 - target) / n_trials)


def crossing(tried: Sequence[Tried], target: float, scale: Scale) -> float | None:
    """About where the worst rate is the target: by a line through the probits of all rates that are not too far off.

    By least squares, weighted with how well each is known; None where that is beyond all that was tried.
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
    """What one trial says of the probit of a rate: 1 / variance."""
    return _normal.pdf(_probit(rate)) ** 2 / (rate * (1.0 - rate))


def _check_enough(n_trials: int, target: float, n_scenarios: int, conservative: bool) -> None:
    """Refuse too few trials: without an error in n of them the upper limit is 1 - alpha^(1/n)."""
    if conservative:
        fewest = math.ceil(math.log((1.0 - LEVEL) / n_scenarios) / math.log1p(-target))
        why = f" to show a rate of {target:.6g}: fewer cannot, even if none of them errs"
    else:
        fewest = math.ceil(round(_MIN_ERRORS / target, 6))
        why = f", so that about {_MIN_ERRORS} of them err"
    if n_trials < fewest:
        raise InputError("n_trials", n_trials, f"at least {fewest:,}{why}")


def confirmed_with(seed: int, last: int, conservative: bool) -> str:
    """Which seeds the fresh trials had, given that of the search and of the last ones.

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
