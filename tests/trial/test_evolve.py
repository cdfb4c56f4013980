"""The reducer is pure, and gives the same state whether events come one by one or from the log."""

from __future__ import annotations

from adhere.trial.domain.evolve import evolve
from adhere.trial.domain.state import TrialState, initial_state

from .live import Live


def test_evolve_changes_nothing_it_is_given() -> None:
    live = Live("thompson/actual")
    for number in range(6):
        live.recommend(f"s{number}")
        live.report(number, actual="walk", reward=float(number % 2))
    live.correct(1, reward=0.5)
    live.correct(2, retract=("reward",))
    state: TrialState = initial_state(live.design, live.engine())
    for event in live.events():
        kept, histories = state.policy_state.tobytes(), dict(state.histories)
        position, updates = state.position, dict(state.changed_updates)
        after = evolve(state, event)
        assert (state.policy_state.tobytes(), dict(state.histories)) == (kept, histories)
        assert (state.position, dict(state.changed_updates)) == (position, updates)
        assert evolve(state, event).policy_state.tobytes() == after.policy_state.tobytes()
        assert after.position == event.position
        state = after
    assert state.n_recommendations == 6
    assert state.relearn_from is not None  # the corrections only mark what is outdated


def test_a_correction_marks_the_earliest_outdated_place() -> None:
    live = Live("thompson/actual")
    for number in range(3):
        live.recommend(f"s{number}")
        live.report(number, actual="walk", reward=1.0)
    live.correct(2, reward=0.5)
    live.correct(0, reward=0.5)
    live.correct(1, reward=0.5)
    state = initial_state(live.design, live.engine())
    marked = []
    for event in live.events():
        state = evolve(state, event)
        marked.append(state.relearn_from)
    assert marked == [None] * 7 + [7, 3, 3]
