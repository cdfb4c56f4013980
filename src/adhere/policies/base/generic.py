"""The generic functions that implement every policy, specialised by Numba for each composition of rules.

A *rule* is a policy's compiled form: a NamedTuple of its numbers, of `n_arms`, and of the rules nested in it. State
and memo are flat arrays of float64, so that they can be logged, copied and stored next to each other on a GPU. A
declared layout names their elements (`compilation.layout`).

==================  ==================================================================================
0 … k-1         the actual arm; the reward and the arm became known together
k               the reward is known, the actual arm is not
k+1+a           the actual arm is a; the reward was reported earlier, with feedback k
-2              the patient took nothing in the arm set; reported together with the reward
-3              the patient took something else; reported together with the reward
2k+1 and 2k+2   took nothing, or something else; the reward was reported earlier, with feedback k
==============  ==================================================================================

Each component of a policy learns from exactly one report per patient (see `protocols.feedback_table`). The last three
rows are only used for policies that contain a compliance-aware learner.
"""

from typing import Any

from numba import config

from adhere.compilation import (
    Kernel,
    Memo,
    State,
    classes_of,
    generic,
    generic_with_default,
    if_two_arms,
    implementation,
    implements,
    memo_of,
    specialise,
    state_of,
)
from adhere.compilation.layout import Floats as Floats  # part of the signatures below
from adhere.randomness import Stream

Rule = Any  # the compiled form of a policy: a NamedTuple


@generic_with_default
def remember(rule: Rule, state: State, memo: Memo) -> None:
    """Store in the memo what learning from this decision will need of the present state."""


@generic_with_default
def remember_guarded(rule: Rule, state: State, memo: Memo, shares: Any, kept: float, rng: Stream) -> None:
    """Store in the memo that arm j had probability shares[j] + kept · p_j, where p_j is the policy's own probability.

    A guard calls it after `choose`, or instead of `choose`. Learners that divide by the probability of an arm need
    it.
    """


@generic
def choose(rule: Rule, state: State, memo: Memo, weight: float, rng: Stream) -> int:
    """Pick an arm."""
    raise NotImplementedError


def probabilities(rule: Rule, state: State, memo: Memo, weight: float, out: Floats, rng: Stream) -> None:
    """Write the probability of each arm into the first `n_arms` elements of `out`; the rest of `out` is workspace.

    Called from Python, it mixes the components of a hybrid in Python and runs compiled code for each learner. A
    kernel for all components would take long to compile for every composition, and is seldom needed.
    """
    arguments = (rule, state.floats, memo.floats, weight, out, rng)
    is_python = config.DISABLE_JIT or config.ENABLE_CUDASIM  # for a debugger, or in a simulated GPU
    compiled = None if is_python else _compiled_probabilities.get(type(rule))
    if compiled is not None:
        compiled(*arguments)
    elif is_python or len(classes_of(rule)) > 1:
        own = implementation(probabilities, type(rule))
        assert own is not None
        own(rule, state, memo, weight, out, rng)
    else:  # a learner's rules all have fields of the same types
        _compiled_probabilities[type(rule)] = _PROBABILITIES.compiled(*arguments)
        _compiled_probabilities[type(rule)](*arguments)


def probabilities_of_learner(rule: Rule, state: Any, memo: Any, weight: float, out: Any, rng: Stream) -> None:
    """Compute `probabilities` for callers in Python, whose state and memo are flat arrays."""
    probabilities(rule, state_of(rule, state), memo_of(rule, memo), weight, out, rng)


_PROBABILITIES = Kernel(probabilities_of_learner)
_compiled_probabilities: dict[type, Any] = {}


@generic_with_default
def replay_choice(rule: Rule, state: State, memo: Memo, rng: Stream) -> None:
    """Change the state as the remembered choice did, without drawing again.

    For most policies, choosing does not change the state. A policy that recycles takes an outcome out of its cache.
    """


@generic_with_default
def note_allocation(rule: Rule, state: State, arm: Any, rng: Stream) -> None:
    """Change the state because an arm was allocated, e.g. count the arm in the current block of a burn-in.

    The code that plays a trial calls it after each recommendation that the policy made or that was drawn by shares,
    but not after a fallback. The stream still points to the recommendation. A policy that contains others passes the
    call on.
    """


@generic
def learn(rule: Rule, state: State, memo: Memo, arm: Any, reward: float, weight: float, rng: Stream) -> None:
    """Learn that an arm gave a reward."""


@generic_with_default
def learn_recycled(rule: Rule, state: State, memo: Memo, arm: Any, reward: float, weight: float, rng: Stream) -> None:
    """Learn once from the recycled reward of an arm."""
    learn(rule, state, memo, arm, reward, weight, rng)


@generic_with_default
def update(
    rule: Rule, state: State, memo: Memo, chosen: int, feedback: int, reward: float, weight: float, rng: Stream
) -> None:
    """Learn from one patient. A learner credits the arm that its protocol names, if any."""
    teach(rule, state, memo, rule.credit[chosen, feedback], reward, weight, rng)


@generic_with_default
def component(rule: Rule, memo: Memo) -> int:
    """Return the component that made the decision, as an index into the policy's `components`; 0 for a learner."""
    return 0


def teach(rule: Rule, state: State, memo: Memo, arm: int, reward: float, weight: float, rng: Stream) -> None:
    """Let a learner learn from an arm, if an arm was credited."""
    if arm >= 0:
        learn(rule, state, memo, arm, reward, weight, rng)


def teach_one_of_two(
    rule: Rule, state: State, memo: Memo, arm: int, reward: float, weight: float, rng: Stream
) -> None:
    """Do the same as `teach`, with separate code for each of two arms, so that a processor can speculate ahead."""
    if arm == 0:
        learn(rule, state, memo, 0, reward, weight, rng)
    elif arm > 0:
        learn(rule, state, memo, 1, reward, weight, rng)


specialise(teach, lambda *_: teach)
specialise(teach, if_two_arms(teach_one_of_two, teach), target="cpu")


ESTIMATE_DRAWS = 1000


@implements(probabilities, object, inlined=False)
def estimate_probabilities(rule: Rule, state: State, memo: Memo, weight: float, out: Floats, rng: Stream) -> None:
    """Write the frequencies of arms in 1000 draws, for learners that do not implement `probabilities`.

    Each arm starts with half a draw. An arm that can be drawn then never has probability 0, by which callers divide.
    """
    total = ESTIMATE_DRAWS + 0.5 * rule.n_arms
    for arm in range(rule.n_arms):
        out[arm] = 0.5 / total
    for _ in range(ESTIMATE_DRAWS):
        out[choose(rule, state, memo, weight, rng)] += 1.0 / total
