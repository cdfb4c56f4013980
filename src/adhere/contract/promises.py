"""Promises that are checked by playing a policy as Python: each check raises `Broken`, or returns a note."""

import inspect
import math
import time

import numpy as np

from adhere.compilation import implementation
from adhere.compilation.compile_errors import syntax_of
from adhere.compilation.dispatch import implementations_of
from adhere.compilation.layout import Floats
from adhere.compilation.user_code import Place, is_users
from adhere.contract.findings import HIERARCHY, LATE, PROBABILITIES, REPEATABLE, Broken
from adhere.contract.interpreted import Decision, Interpreted
from adhere.contract.patients import ALIKE, Answer, answer_mixed
from adhere.policies import Learner, Policy, parse_policy
from adhere.policies.base.generic import estimate_probabilities, probabilities
from adhere.protocols import NAMED

ARM_COUNTS = (2, 3)
_ORDINALS = ("first", "second", "third")
N_PATIENTS = 40
N_LONGER = 120  # for games that are played as Python once
N_LONG = 2000  # for a game on each kind of patients
SECONDS_OF_LONG_GAMES = 20.0  # longer games end early
N_TIES = 300
N_DRAWS = 2000
_FEW_DRAWS = 10
_LATE = 100_000  # the number of a recommendation later than any that was played
SEED = 5
_STANDARD_ERRORS = 4.5  # one in 150,000 honest policies deviates more


def variants(policy: Policy) -> list[Policy]:
    """Return a learner under every protocol; return any other policy unchanged."""
    return [policy.under(protocol) for protocol in NAMED.values()] if isinstance(policy, Learner) else [policy]


def in_hierarchy(policy: Policy) -> Policy | None:
    """Return a hierarchy with this policy among its experts, or None if it is not a learner."""
    if policy.learners() != (policy,):
        return None
    return parse_policy(f"hierarchical({policy if isinstance(policy, Learner) else f'experts=[{policy}, thompson]'})")


def play(
    trial: Interpreted, n_patients: int, delay: int = 0, answer: Answer = answer_mixed, until: float = math.inf
) -> list[int]:
    """Play a trial and return the arms recommended; feedback is `delay` decisions late.

    `answer` determines what patients take and gain; by default most take the recommended arm. At `until`, a time of
    the monotonic clock, the trial stops even if patients are left.
    """
    rng, waiting, arms = np.random.default_rng(SEED), list[Decision](), []
    for number in range(n_patients):
        if until < math.inf and time.monotonic() > until:
            break
        waiting.append(trial.decide(number))
        trial.note(waiting[-1])
        arms.append(waiting[-1].chosen)
        if len(waiting) > delay:
            _hear(trial, waiting.pop(0), rng, answer)
    for decision in waiting:
        _hear(trial, decision, rng, answer)
    return arms


def _hear(trial: Interpreted, decision: Decision, rng: np.random.Generator, answer: Answer) -> None:
    trial.learn(decision, *answer(decision.chosen, list(trial.feedback), rng))


def runs(policy: Policy) -> str:
    """Check indices, arms, state, memo and numbers in simulated trials, where any mistake raises `Broken`."""
    for n_arms in ARM_COUNTS:
        for variant in variants(policy):
            play(Interpreted(variant, n_arms), N_LONGER)
            for answer in ALIKE.values():
                play(Interpreted(variant, n_arms), N_PATIENTS, answer=answer)
    return ""


def runs_long(policy: Policy) -> str:
    """Play long trials as Python to find late errors, which compiled code would turn into nan without an error."""
    until = time.monotonic() + SECONDS_OF_LONG_GAMES
    for answer in (answer_mixed, *ALIKE.values()):
        play(Interpreted(policy, ARM_COUNTS[0]), N_LONG, answer=answer, until=until)
    return ""


def repeatable(policy: Policy) -> str:
    """Check that two trials with the same seed are identical."""
    first, second = (Interpreted(policy, 3, seed=7) for _ in range(2))
    if play(first, N_PATIENTS) != play(second, N_PATIENTS) or first.state.tobytes() != second.state.tobytes():
        where = function_place(policy, "choose")
        raise Broken(
            REPEATABLE, f"{where}: another game with the same seed differs; draw all random numbers from rng"
        )
    return ""


def late(policy: Policy) -> str:
    """Check that feedback may come decisions later, and that the actual arm may come after the reward."""
    for variant in variants(policy):
        play(Interpreted(variant, 3), N_PATIENTS, delay=3)
        trial = Interpreted(variant, 2)
        for number in range(8):
            decision, before = trial.decide(number), np.array(trial.state)
            for together, later in trial.feedback.items():
                ends = []
                for codes in ((together,), (trial.n_arms, later)):
                    trial.set_state(before)
                    draws = [trial.learn(decision, code, 1.0) for code in codes]
                    ends.append(np.array(trial.state))
                if not any(draws) and not np.allclose(ends[0], ends[1], rtol=1e-9, atol=1e-12):
                    where = function_place(policy, "learn")
                    raise Broken(LATE, f"{where}: it learns something else if the actual arm comes after the reward")
    return ""


def match_frequencies(policy: Policy) -> str | None:
    """Check that stated probabilities match the frequencies of choices; return None if the policy states none."""
    rule_class = getattr(policy, "rule_class", type(None))
    if implementation(probabilities, rule_class) is estimate_probabilities:
        return None
    for n_arms in ARM_COUNTS:
        trial = Interpreted(policy, n_arms)
        for patients in (0, N_PATIENTS):
            play(trial, patients)
            for number in (patients, _LATE):  # since both may depend on the number
                if problem := unlike(*frequencies(trial, number)):
                    raise Broken(PROBABILITIES, f"{function_place(policy, 'probabilities')}: {problem}")
    return ""


def frequencies(trial: Interpreted, number: int) -> tuple[Floats, Floats]:
    """Return how often each arm is chosen in many draws of a recommendation, and the mean stated probabilities."""
    counts, stated = np.zeros(trial.n_arms), list[Floats]()
    for run in range(N_DRAWS):
        trial.turn_to(run)
        counts[trial.decide(number).chosen] += 1
        # Most policies state the same whatever is drawn, so a few times are enough.
        if run < _FEW_DRAWS or not (stated[0] == stated[1:]).all():
            stated.append(trial.probabilities(number))
    return counts, np.mean(stated, axis=0)


def unlike(counts: Floats, stated: Floats) -> str:
    """Describe what is wrong with stated probabilities, given counts of draws; return "" if they agree within
    chance.
    """
    if not (np.isfinite(stated).all() and (stated >= 0).all() and abs(stated.sum() - 1.0) <= 1e-6):
        shown = ", ".join(f"{p:.4g}" for p in stated)
        return f"the probabilities are {shown}; they must be numbers from 0 to 1, one for each arm, that add up to 1"
    n = counts.sum()
    for arm, (count, p) in enumerate(zip(counts, stated, strict=True)):
        if abs(count - n * p) > _STANDARD_ERRORS * math.sqrt(n * p * (1.0 - p)) + 0.5:
            share = f"{count / n:.3f} of {int(n)} draws"
            return f"the probability of arm {arm} is said to be {p:.3f}, but choose picks it in {share}"
    return ""


def favour_no_arm(policy: Policy) -> str:
    """Check that arms with equal results are chosen equally often; return a note that names a favoured arm."""
    for n_arms in ARM_COUNTS:
        trial = Interpreted(policy, n_arms)
        for past in ("nothing is known", "every arm has had one success"):
            counts = np.zeros(n_arms)
            for run in range(N_TIES):
                trial.turn_to(run)
                counts[trial.decide(n_arms).chosen] += 1
            p, favoured = 1.0 / n_arms, int(counts.argmax())
            if counts[favoured] > N_TIES * p + _STANDARD_ERRORS * math.sqrt(N_TIES * p * (1.0 - p)):
                which = f"arm {favoured} (the {_ORDINALS[favoured]} of {n_arms})"
                often = f"{which} in {100 * counts[favoured] / N_TIES:.0f}% of {N_TIES} draws"
                instead = "unless that is meant, draw among ties: if newest_wins_tie(n_tied, rng): best = arm"
                return f"{function_place(policy, 'choose')}: where {past}, choose picks {often}; {instead}"
            trial.turn_to(0)
            for arm in range(n_arms):
                trial.learn(trial.decide(arm)._replace(chosen=arm), arm, 1.0)
    return ""


def works_in_hierarchy(policy: Policy) -> str | None:
    """Check the policy as an expert with weights other than 1; return None if it cannot be an expert."""
    hierarchy = in_hierarchy(policy)
    if hierarchy is None:
        return None
    for n_arms in ARM_COUNTS:
        try:
            play(Interpreted(hierarchy, n_arms), N_PATIENTS)
        except Broken as broken:
            raise Broken(HIERARCHY, broken.sentence) from broken
    return ""


def function_place(policy: Policy, name: str) -> Place:
    """Return where a function of a user's policy is defined; if it is not the user's, return where the class is."""
    function = implementations_of(policy.rule_class).get(name)
    if function is not None and is_users(function.__code__.co_filename):
        return Place(function.__code__.co_filename, syntax_of(function).body[0].lineno)
    return class_place(type(policy))


def class_place(cls: type) -> Place:
    """Return where a policy is declared."""
    return Place(inspect.getsourcefile(cls) or "", inspect.getsourcelines(cls)[1] + 1)
