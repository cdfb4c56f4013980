"""Whatever comes in whatever order, with whatever restarts: the state is that of the log replayed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, multiple, rule

from adhere.design.parts import Imputation
from adhere.errors import ConflictError
from adhere.policies import TOOK_NOTHING, TOOK_OTHER
from adhere.store import open_store
from adhere.trial.domain.commands import MarkInError, Recommend, Withdraw
from adhere.trial.domain.events import decode
from adhere.trial.domain.history import history_of
from adhere.trial.domain.log_records import walk
from adhere.trial.log.replay import replay
from adhere.trial.log.verify import verify
from adhere.trial.writing import running_state
from adhere.trial.writing.running_state import project, scratch_cache

from .live import ARMS, Live, number_of, snapshot_in

TAKEN: Any = st.sampled_from(
    [{"actual": ARMS[0]}, {"actual": ARMS[1]}, {"took_nothing": True}, {"took_other": "tea"}]
)
REWARD: Any = st.sampled_from([{"reward": 0.0}, {"reward": 1.0}])
SAID: Any = st.one_of(TAKEN, REWARD, st.builds(lambda taken, reward: taken | reward, TAKEN, REWARD))


@pytest.fixture(autouse=True)
def _states_are_kept_often(monkeypatch: pytest.MonkeyPatch) -> None:
    # Corrections then start from checkpoints, and drop some.
    monkeypatch.setattr(running_state, "CHECKPOINT_EVERY", 5)


class AnyOrder(RuleBasedStateMachine):
    """A site that asks, reports, repeats itself and corrects; days that pass; a service that restarts."""

    policy = "thompson/actual"
    made = Bundle("made")
    said = Bundle("said")

    def __init__(self) -> None:
        super().__init__()
        self.folder = TemporaryDirectory()
        rule_for_missing = Imputation(after_days=14, took_nothing=True, reward=0.0)
        self.live = Live(self.policy, open_store(self._path), impute=rule_for_missing, n_patients=50)
        self.ids = 0

    @property
    def _path(self) -> Path:
        return Path(self.folder.name) / "trials.db"

    def _request(self) -> str:
        self.ids += 1
        return f"request {self.ids}"

    @rule(target=made, subject=st.integers(0, 30))
    def recommend(self, subject: int) -> str:
        return self.live.recommend(f"s{subject}").recommendation_id

    @rule(target=made, subjects=st.lists(st.integers(0, 30), min_size=2, max_size=4))
    def recommend_together(self, subjects: list[int]) -> Any:
        asked = [Recommend(trial="t", request_id=self._request(), site="Leeds", subject=f"s{n}") for n in subjects]
        return multiple(*(answer.recommendation_id for answer in self.live.processor.execute(asked)))  # type: ignore[union-attr]

    @rule(target=said, made=made, said=SAID)
    def report(self, made: str, said: dict[str, Any]) -> tuple[str, dict[str, Any], int | None]:
        said = {**said, "request_id": self._request(), "site": None}
        try:
            return made, said, self.live.report(made, **said).record
        except ConflictError:  # it contradicts an earlier one
            return made, said, None

    @rule(once_more=said)
    def report_again(self, once_more: tuple[str, dict[str, Any], int | None]) -> None:
        made, said, record = once_more
        if record is not None:
            assert self.live.report(made, **said).record == record

    @rule(made=made, said=SAID)
    def correct(self, made: str, said: dict[str, Any]) -> None:
        with suppress(ConflictError):  # nothing new is taken of what was withdrawn
            self.live.correct(made, **said)

    @rule(made=made, part=st.sampled_from(["actual", "reward", "withdrawal"]))
    def retract(self, made: str, part: str) -> None:
        with suppress(ConflictError):  # there was nothing to retract
            self.live.correct(made, retract=(part,))

    @rule(made=made)
    def withdraw(self, made: str) -> None:
        with suppress(ConflictError):
            self.live.send(Withdraw(trial="t", request_id=self._request(), recommendation_id=made, reason="left"))

    @rule(made=made)
    def mark_in_error(self, made: str) -> None:
        with suppress(ConflictError):  # something was reported of it
            self.live.send(MarkInError(trial="t", request_id=self._request(), recommendation_id=made, reason="slip"))

    @rule(days=st.sampled_from([1, 7, 15]))
    def pass_days(self, days: int) -> None:
        self.live.clock.pass_days(days)
        self.live.impute_missing()

    @rule()
    def restart(self) -> None:
        self.live.store.close()
        self.live.store = open_store(self._path)
        self.live.processor = type(self.live.processor)(self.live.store, self.live.clock)

    def teardown(self) -> None:
        with self.live.store.reading() as view:
            number = number_of(view)
            assert verify(view, number).fault is None
            again = replay(view, number)
            assert again.difference is None
            assert again.n_derived == snapshot_in(view).n_recommendations
            self.check_state(view, number)
        self.live.store.close()
        self.folder.cleanup()

    def check_state(self, view: Any, number: int) -> None:
        """Thompson's counts are the outcomes by arm taken, each once, whatever their order: count them by hand."""
        counts = np.zeros((2, 2))
        for _, actual, reward in known_patients(view, number):
            if actual >= 0:
                counts[0 if reward else 1, actual] += 1
        state = np.frombuffer(snapshot_in(view).policy_state)
        assert (state[:4] - state[:4].min() == counts.ravel() - counts.min()).all()
        assert state[:4].sum() - counts.sum() == 4  # the prior


class AnyOrderOfBothArms(AnyOrder):
    """A policy that sees both arms, and learns where neither of them was taken too."""

    policy = "mediated-thompson"

    def check_state(self, view: Any, number: int) -> None:
        """Its tables are those of the patients of whom all is known, counted by hand."""
        counts = np.zeros((2, 2, 4))  # successes, failures
        for chosen, actual, reward in known_patients(view, number):
            counts[0 if reward else 1, chosen, {TOOK_NOTHING: 3, TOOK_OTHER: 2}.get(actual, actual)] += 1
        state = np.frombuffer(snapshot_in(view).policy_state)
        assert state[:16].tolist() == counts.ravel().tolist()


def known_patients(view: Any, number: int) -> Iterator[tuple[int, int, float]]:
    """The arm chosen, what was taken and the reward, where both are known."""
    bodies: dict[int, list[bytes]] = {}
    for record in walk(view, number):
        if record.recommendation_index is not None:
            bodies.setdefault(record.recommendation_index, []).append(record.body)
    for history in (history_of(map(decode, own)) for own in bodies.values()):
        if history.actual is not None and history.reward is not None:
            yield history.chosen, int(history.actual.value), history.reward.value


class AnyOrderRecycling(AnyOrder):
    """A policy whose choices use up what it keeps, and whose updates depend on their order."""

    policy = "thompson-bounded(hierarchical(epsilon-greedy), recycle=true)"

    def check_state(self, view: Any, number: int) -> None:
        """The state is that which comes out of the log alone, without the caches beside it."""
        with scratch_cache() as cache:
            derived = project(view, cache, number, self.live.design, self.live.engine())
            assert snapshot_in(view).policy_state == derived.state.policy_state.tobytes()


def _bounded(n: int) -> settings:
    return settings(
        max_examples=n,
        stateful_step_count=40,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        derandomize=True,
    )


TestAnyOrder = AnyOrder.TestCase
TestAnyOrder.settings = _bounded(20)
TestAnyOrderOfBothArms = AnyOrderOfBothArms.TestCase
TestAnyOrderOfBothArms.settings = _bounded(8)
TestAnyOrderRecycling = AnyOrderRecycling.TestCase
TestAnyOrderRecycling.settings = _bounded(15)


class LongInAnyOrder(AnyOrder):
    pass


class LongInAnyOrderRecycling(AnyOrderRecycling):
    pass


TestLongInAnyOrder = pytest.mark.slow(LongInAnyOrder.TestCase)
TestLongInAnyOrder.settings = _bounded(120)
TestLongInAnyOrderRecycling = pytest.mark.slow(LongInAnyOrderRecycling.TestCase)
TestLongInAnyOrderRecycling.settings = _bounded(120)
