"""The arrays that the compiled steps of a live trial work in."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from adhere.compilation import memo_of, state_of
from adhere.policies.base.policy import CompiledPolicy, probabilities_size
from adhere.trial.policy.updates import UpdateArrays


class Buffers:
    """Arrays that compiled code works in: making them anew takes longer than most steps."""

    def __init__(self, compiled: CompiledPolicy, stream: Any) -> None:
        self.state, self.rng = compiled.state.copy(), stream.copy()
        self.memo = np.zeros(compiled.memo_size + compiled.scratch_size)
        self.named_state, self.named_memo = state_of(compiled.rule, self.state), memo_of(compiled.rule, self.memo)
        self.out = np.zeros(probabilities_size(compiled.rule.n_arms))
        self.shares = np.zeros(compiled.rule.n_arms)
        self.one_update = UpdateArrays(np.zeros((1, 3), np.int64), np.zeros((1, 1 + compiled.memo_size)))
        self.done = np.zeros(1, np.int64)


class BuffersOfThread(threading.local):
    """The buffers of each thread."""

    def __init__(self, compiled: CompiledPolicy, stream: Any) -> None:
        self.own = Buffers(compiled, stream)  # reached once a step: attributes of a thread are slow
