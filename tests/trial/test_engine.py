"""An engine holds no state of a trial: threads may share it, and nothing it is given changes."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from adhere.compilation import Kernel
from adhere.policies.base import generic
from adhere.trial.policy.engine import Engine, Floats
from adhere.trial.secret.trial_keys import seeded_keys

POLICIES = ("exp3(gamma=0.3)/comply", "thompson-bounded(hierarchical(epsilon-greedy), recycle=true)")


def walk(engine: Engine, start: int) -> tuple[list[int], list[tuple[float, ...]], bytes]:
    """Some rounds in which everybody complies, from the first state on."""
    state: Floats = engine.first_state
    arms, probabilities = [], []
    for number in range(start, start + 60):
        before = state.tobytes()
        choice = engine.choose(state, number)
        assert state.tobytes() == before
        arms.append(choice.chosen)
        probabilities.append(choice.probabilities)
        update = (number + 1, number, choice.chosen, choice.chosen, float(number % 3 == 0), choice.memo)
        after = engine.learn_one(state, update).state
        assert state.tobytes() == before
        state = after
    return arms, probabilities, state.tobytes()


def test_threads_may_share_an_engine() -> None:
    for policy in POLICIES:
        engine = Engine(policy, 2, seeded_keys(3), n_patients=1000)
        alone = [walk(engine, start) for start in range(0, 800, 100)]
        with ThreadPoolExecutor(8) as threads:
            together = list(threads.map(partial(walk, engine), range(0, 800, 100)))
        assert together == alone, policy
        assert len({str(arms) for arms, _, _ in alone}) > 1


def test_loading_leaves_nothing_to_load_for_the_first_patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even what the probabilities of its parts need: a want of descriptors must not meet a patient."""
    monkeypatch.setattr(generic, "_compiled_probabilities", {})
    engine = Engine("thompson-bounded(epsilon-greedy)", 2, seeded_keys(3))
    engine.load()

    def none_left(*_: object) -> None:
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(Kernel, "compiled", none_left)
    assert engine.choose_or_fall_back(engine.first_state, 0).fallback == ""
    assert engine.learn_one(engine.first_state, (3, 0, 1, 1, 1.0, (0.0,) * engine.memo_size)).refused == ()
