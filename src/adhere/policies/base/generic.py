"""The functions every policy is made of, specialised by Numba for each composition of rules.

A *rule* is a policy's compiled form: a NamedTuple of its numbers, of `n_arms`, and of the rules nested in it.
State and memo are flat arrays of float64, so that they can be logged, copied and laid side by side on a GPU; a
declared layout gives their places names (`compilation.layout`).

=================  =========================================================================================
`remember`        write into the memo what learning will need of the state at this decision; called on every
                  part of a policy at every decision, before `choose`
`choose`          pick an arm (after `remember`)
`replay_choice`   change the state as the choice did that the memo remembers, without drawing again
`note_allocation` change the state after an arm was allocated, whoever drew it; called after every decision
`probabilities`   the probability of each arm (after `remember`)
`learn`           a learner's update: one credited arm and its reward
`learn_recycled`  its update from an outcome that was kept
`update`          the update of a whole policy by one patient: chosen arm, feedback, reward
`component`         which part of a hybrid made the decision the memo remembers
`remember_guarded` write into the memo what a guard around the policy made of its probabilities; called after `choose`
=================  =========================================================================================

`weight` is the importance weight 1/p of a learner that is asked with probability p; 1 outside hierarchies.

`feedback` says what is known of the actual arm. With k arms: 0 … k-1 the actual arm, reward and arm known
together; k the reward is in, the actual arm is not; k+1+a the actual arm a has come for a reward reported
earlier with feedback k. Each part of a policy learns at exactly one of them (see `protocols.feedback_table`).
A policy with a compliance-aware learner in it is also told that none of the arms was taken: -2 nothing in the arm
set, -3 something else, together with the reward; 2k+1 and 2k+2 the same for a reward reported earlier.
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
    """Write into the memo what learning will need of the state at this decision."""


@generic_with_default
def remember_guarded(rule: Rule, state: State, memo: Memo, shares: Any, kept: float, rng: Stream) -> None:
    """Write into the memo that arm j was chosen with probability shares[j] + kept · p_j, p_j the policy's own.

    Called by a guard, after `choose` or in place of it. It is for learners that divide by the probability of an arm.
    """


@generic
def choose(rule: Rule, state: State, memo: Memo, weight: float, rng: Stream) -> int:
    """Pick an arm."""
    raise NotImplementedError


def probabilities(rule: Rule, state: State, memo: Memo, weight: float, out: Floats, rng: Stream) -> None:
    """Write the probability of each arm into the first `n_arms` places of `out`; the rest is room to work in.

    Called from Python, it mixes the parts of a hybrid in Python and runs compiled code for each learner: a kernel
    of all of it would take long to compile for every composition, and is seldom needed.
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
    """What Python runs of `probabilities`: state and memo are flat arrays."""
    probabilities(rule, state_of(rule, state), memo_of(rule, memo), weight, out, rng)


_PROBABILITIES = Kernel(probabilities_of_learner)
_compiled_probabilities: dict[type, Any] = {}


@generic_with_default
def replay_choice(rule: Rule, state: State, memo: Memo, rng: Stream) -> None:
    """Change the state as the choice did that the memo remembers, without drawing again.

    Choosing leaves the state of most policies alone; one that recycles takes an outcome out of its cache.
    """


@generic_with_default
def note_allocation(rule: Rule, state: State, arm: Any, rng: Stream) -> None:
    """Change the state because an arm was allocated: in a burn-in it takes a place in the current block.

    Called by whoever plays a trial, after each recommendation that the policy made or that was drawn by shares, and
    not after a fallback. The stream still points to the recommendation. A policy around others passes the call on.
    """


@generic
def learn(rule: Rule, state: State, memo: Memo, arm: Any, reward: float, weight: float, rng: Stream) -> None:
    """Learn that an arm gave a reward."""


@generic_with_default
def learn_recycled(rule: Rule, state: State, memo: Memo, arm: Any, reward: float, weight: float, rng: Stream) -> None:
    """Learn that an arm gave a reward once."""
    learn(rule, state, memo, arm, reward, weight, rng)


@generic_with_default
def update(
    rule: Rule, state: State, memo: Memo, chosen: int, feedback: int, reward: float, weight: float, rng: Stream
) -> None:
    """Learn from one patient; a learner credits the arm its protocol names, if any."""
    teach(rule, state, memo, rule.credit[chosen, feedback], reward, weight, rng)


@generic_with_default
def component(rule: Rule, memo: Memo) -> int:
    """Which part made the decision, as an index into the policy's `components`; a learner has one."""
    return 0


def teach(rule: Rule, state: State, memo: Memo, arm: int, reward: float, weight: float, rng: Stream) -> None:
    """Let a learner learn of an arm, if it is one."""
    if arm >= 0:
        learn(rule, state, memo, arm, reward, weight, rng)


def teach_one_of_two(
    rule: Rule, state: State, memo: Memo, arm: int, reward: float, weight: float, rng: Stream
) -> None:
    """As `teach`, with code of its own for each of two arms: a processor that guesses branches can work ahead."""
    if arm == 0:
        learn(rule, state, memo, 0, reward, weight, rng)
    elif arm > 0:
        learn(rule, state, memo, 1, reward, weight, rng)


specialise(teach, lambda *_: teach)
specialise(teach, if_two_arms(teach_one_of_two, teach), target="cpu")


ESTIMATE_DRAWS = 1000


@implements(probabilities, object, inlined=False)
def estimate_probabilities(rule: Rule, state: State, memo: Memo, weight: float, out: Floats, rng: Stream) -> None:
    """For learners that do not give their probabilities: the frequencies of 1000 draws.

    Each arm has half a draw for a start: what can be drawn is never given the probability 0, by which others divide.
    """
    total = ESTIMATE_DRAWS + 0.5 * rule.n_arms
    for arm in range(rule.n_arms):
        out[arm] = 0.5 / total
    for _ in range(ESTIMATE_DRAWS):
        out[choose(rule, state, memo, weight, rng)] += 1.0 / total
