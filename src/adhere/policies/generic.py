"""The functions every policy is made of, specialised by Numba for each composition of rules.

A *rule* is a policy's compiled form: a NamedTuple of its numbers, of `n_arms`, and of the rules nested in it.
State and memo are flat arrays of float64, so that they can be logged, copied and laid side by side on a GPU.

================  ===========================================================================================
`remember`        write into the memo what learning will need of the state at this decision; called on every
                  part of a policy at every decision, before `choose`
`choose`          pick an arm (after `remember`)
`repeat`          change the state as the choice did that the memo remembers, without drawing again
`probabilities`   the chance of each arm (after `remember`)
`learn`           a learner's lesson: one credited arm and its reward
`update`          the lesson of one patient for a whole policy: chosen arm, feedback, reward
`decider`         which part of a hybrid made the decision the memo remembers
================  ===========================================================================================

`weight` is the importance weight 1/p of a learner that is asked with probability p; 1 outside hierarchies.

`feedback` says what is known of the actual arm. With k arms: 0 … k-1 the actual arm, reward and arm known
together; k the reward is in, the actual arm is not; k+1+a the actual arm a has come for a reward reported
earlier with feedback k. Each part of a policy learns at exactly one of them (see `protocols.feedback_table`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import config

from adhere.compilation import (
    Kernel,
    classes_of,
    generic,
    helper,
    implementation,
    number_in,
    rarely_needed,
    specialise,
)
from adhere.randomness import uniform


@generic
def remember(rule: Any, state: Any, memo: Any) -> None:
    """Write into the memo what learning will need of the state at this decision."""


@generic
def choose(rule: Any, state: Any, memo: Any, weight: float, rng: Any) -> int:
    """Pick an arm."""
    raise NotImplementedError


@rarely_needed
def probabilities(rule: Any, state: Any, memo: Any, weight: float, out: Any, rng: Any) -> None:
    """Write the chance of each arm into the first `n_arms` places of `out`; the rest is room to work in.

    Called from Python, it mixes the parts of a hybrid in Python and runs compiled code for each learner: a kernel
    of all of it would take long to compile for every composition, and is seldom needed.
    """
    compiled = _compiled_probabilities.get(type(rule))
    if compiled is not None:
        compiled(rule, state, memo, weight, out, rng)
    elif len(classes_of(rule)) > 1 or config.ENABLE_CUDASIM:  # in a simulated GPU all is Python
        own = implementation(probabilities, type(rule))
        assert own is not None
        own(rule, state, memo, weight, out, rng)
    else:  # a learner's rules all have fields of the same types
        arguments = (rule, state, memo, weight, out, rng)
        _compiled_probabilities[type(rule)] = _PROBABILITIES.compiled(*arguments)
        _compiled_probabilities[type(rule)](*arguments)


def probabilities_of_learner(rule: Any, state: Any, memo: Any, weight: float, out: Any, rng: Any) -> None:
    """What Python runs of `probabilities`."""
    probabilities(rule, state, memo, weight, out, rng)


_PROBABILITIES = Kernel(probabilities_of_learner)
_compiled_probabilities: dict[type, Any] = {}


@generic
def repeat(rule: Any, state: Any, memo: Any, rng: Any) -> None:
    """Change the state as the choice did that the memo remembers, without drawing again.

    Choosing leaves the state of most policies alone; one that recycles takes an outcome out of its cache.
    """


@generic
def learn(rule: Any, state: Any, memo: Any, arm: Any, reward: float, weight: float, rng: Any) -> None:
    """Learn that an arm gave a reward."""


@generic
def update(
    rule: Any, state: Any, memo: Any, chosen: int, feedback: int, reward: float, weight: float, rng: Any
) -> None:
    """Learn from one patient."""


@generic
def decider(rule: Any, memo: Any) -> int:
    """Which part made the decision, as an index into the policy's `deciders`."""
    raise NotImplementedError


@helper
def update_learner(
    rule: Any, state: Any, memo: Any, chosen: int, feedback: int, reward: float, weight: float, rng: Any
) -> None:
    """A learner credits the arm its protocol names, if any."""
    arm = rule.credit[chosen, feedback]
    teach(rule, state, memo, arm, reward, weight, rng)


def teach(rule: Any, state: Any, memo: Any, arm: int, reward: float, weight: float, rng: Any) -> None:
    """Let a learner learn of an arm, if it is one."""
    if arm >= 0:
        learn(rule, state, memo, arm, reward, weight, rng)


def teach_one_of_two(rule: Any, state: Any, memo: Any, arm: int, reward: float, weight: float, rng: Any) -> None:
    """As `teach`, with code of its own for each of two arms: a processor that guesses branches can work ahead."""
    if arm == 0:
        learn(rule, state, memo, 0, reward, weight, rng)
    elif arm > 0:
        learn(rule, state, memo, 1, reward, weight, rng)


specialise(teach, lambda *_: teach)
specialise(teach, lambda rule, *_: teach_one_of_two if number_in(rule, "n_arms") == 2 else teach, target="cpu")


@helper
def remember_nothing(rule: Any, state: Any, memo: Any) -> None:
    """For learners whose lessons need nothing of the past."""


@helper
def repeat_nothing(rule: Any, state: Any, memo: Any, rng: Any) -> None:
    """For policies whose choices leave the state alone."""


@helper
def only_decider(rule: Any, memo: Any) -> int:
    """For policies that are not hybrids."""
    return 0


# Up to how many entries are picked by comparing, which leaves them in registers, rather than by address.
FEW = 4
_FEW_ON_PROCESSORS = 2


def pick(values: Any, first: int, n: int, index: Any) -> Any:
    """The entry `first + index`, one of the n from `first` on."""
    return values[first + index]


def put(values: Any, first: int, n: int, index: Any, value: float) -> None:
    """Set the entry `first + index`, one of the n from `first` on."""
    values[first + index] = value


def _by_comparing(few: int) -> tuple[Callable[..., Any], Callable[..., Any]]:
    def pick_by_comparing(values: Any, first: int, n: int, index: Any) -> Any:
        if n > few:
            return values[first + index]
        found = values[first]
        for i in range(1, n):
            value = values[first + i]  # read whether wanted or not: the choice must be of values, not of addresses
            found = value if i == index else found
        return found

    def put_by_comparing(values: Any, first: int, n: int, index: Any, value: float) -> None:
        if n > few:
            values[first + index] = value
        else:
            for i in range(n):
                before = values[first + i]
                values[first + i] = value if i == index else before

    return pick_by_comparing, put_by_comparing


def _specialise_by_comparing(few: int, target: str) -> None:
    pick_by_comparing, put_by_comparing = _by_comparing(few)
    specialise(pick, lambda *_: pick_by_comparing, target)
    specialise(put, lambda *_: put_by_comparing, target)


_specialise_by_comparing(FEW, "generic")
_specialise_by_comparing(_FEW_ON_PROCESSORS, "cpu")


ESTIMATE_DRAWS = 1000


@helper
def estimate_probabilities(rule: Any, state: Any, memo: Any, weight: float, out: Any, rng: Any) -> None:
    """For learners that do not give their probabilities: the frequencies of 1000 draws.

    Each arm has half a draw for a start: what can be drawn is never given the chance 0, by which others divide.
    """
    total = ESTIMATE_DRAWS + 0.5 * rule.n_arms
    for arm in range(rule.n_arms):
        out[arm] = 0.5 / total
    for _ in range(ESTIMATE_DRAWS):
        out[choose(rule, state, memo, weight, rng)] += 1.0 / total


@helper
def draw_from(chances: Any, rng: Any) -> Any:
    """Draw an index with the given chances, which sum to one."""
    u = uniform(rng)
    total = 0.0
    for index in range(chances.size - 1):
        total += chances[index]
        if u < total:
            return index
    return chances.size - 1


@helper
def largest_of(values: Any) -> float:
    """The largest of some numbers, without the memory that NumPy's own method would ask for."""
    largest = values[0]
    for index in range(1, values.size):
        largest = values[index] if values[index] > largest else largest
    return largest  # type: ignore[no-any-return]


@helper
def share_among_largest(values: Any, out: Any) -> None:
    """Equal chances for all entries that are as large as the largest; `out` may be `values`."""
    largest = largest_of(values)
    n_tied = 0.0
    for index in range(values.size):
        n_tied += 1.0 if values[index] == largest else 0.0
    for index in range(values.size):
        out[index] = 1.0 / n_tied if values[index] == largest else 0.0


@helper
def keeps_tie(n_tied: int, rng: Any) -> bool:
    """Whether the newest of n tied candidates takes the lead; all tied candidates end up equally likely."""
    return uniform(rng) * n_tied < 1.0


__all__ = [
    "choose",
    "decider",
    "draw_from",
    "estimate_probabilities",
    "keeps_tie",
    "largest_of",
    "learn",
    "only_decider",
    "pick",
    "probabilities",
    "put",
    "remember",
    "remember_nothing",
    "share_among_largest",
    "update",
    "update_learner",
]
