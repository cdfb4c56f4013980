"""Policies are loaded before the service is ready; one that cannot be loaded is refused, and holds up nobody."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from numba.core.event import Event, Listener, install_listener

from adhere.access.tokens import Tokens
from adhere.design.make_design import make_design
from adhere.errors import UnavailableError
from adhere.policies import import_policies
from adhere.store import open_store
from adhere.trial.policy.engine import Engine
from adhere.trial.writing.creation import create_trial
from adhere.trial.writing.processor import utc_now
from service.serving import ARMS, Service, as_process, in_file, in_thread, wait_until
from trial.live import UNKNOWN_ID

BUDGET = Path(__file__).parents[1] / "trial" / "budget.py"
UNCOMPILABLE = '''
from adhere.policies import Learner, choose, implements, learn, policy

@policy("uncompilable")
class Uncompilable(Learner):
    """Does what Numba cannot."""

@implements(choose, Uncompilable)
def choose_uncompilable(rule, state, memo, weight, rng):
    return int(open("/etc/hostname").read())

@implements(learn, Uncompilable)
def learn_uncompilable(rule, state, memo, arm, reward, weight, rng):
    pass
'''

FIRST_ARM = '''
from adhere.policies import Learner, choose, implements, learn, policy

@policy("first-arm")
class FirstArm(Learner):
    """Always the first arm."""

@implements(choose, FirstArm)
def choose_first(rule, state, memo, weight, rng):
    return 0

@implements(learn, FirstArm)
def learn_nothing(rule, state, memo, arm, reward, weight, rng):
    pass
'''


def in_file_of_its_own(folder: Path, text: str, name: str) -> Path:
    file = folder / f"{name}.py"
    file.write_text(text)
    return file


def test_a_policy_that_does_not_compile_is_refused_and_nothing_written(tmp_path: Path) -> None:
    import_policies(in_file_of_its_own(tmp_path, UNCOMPILABLE, "uncompilable"))
    with in_file(tmp_path / "trials.db") as service:
        reply = service.send("POST", "/trials", {"name": "u", "policy": "uncompilable", "arms": ARMS})
        assert (reply.status, reply.json["field"]) == (422, "policy"), reply.json
        assert "uncompilable.py line 10: " in reply.json["detail"]
        assert service.send("GET", "/trials").json["trials"] == []


def test_a_policy_unknown_here_holds_up_neither_readiness_nor_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A real process with an empty cache: the policy of one trial is compiled, that of the other was not imported."""
    import_policies(BUDGET)
    import_policies(in_file_of_its_own(tmp_path, UNCOMPILABLE.replace("uncompilable", "absent"), "absent"))
    path = tmp_path / "trials.db"
    store = open_store(path)
    token = Tokens(store).make_first()
    assert token is not None
    with store.writing() as writing:
        for name, policy in (("a", "absent"), ("b", "budget")):
            create_trial(writing, make_design(name, policy, ARMS), utc_now(), "test").finish()
    store.close()
    monkeypatch.setenv("ADHERE_CACHE_DIR", str(tmp_path / "kernels"))
    with as_process(path, tmp_path, "--import", str(BUDGET), token=token) as process:
        service = process.service
        assert service.send("GET", "/healthz", role=None).status == 200
        wait_until(lambda: service.send("GET", "/readyz", role=None).status == 200, 60)
        assert list((tmp_path / "kernels").rglob("*.nbc"))  # compiled before anybody asked
        assert service.send("POST", "/trials/b/recommendations", {"subject": "s"}).status == 201
        reports = f"recommendations/{UNKNOWN_ID}/reports"
        for place, body in (("recommendations", {"subject": "s"}), (reports, {"reward": 1})):
            reply = service.send("POST", f"/trials/a/{place}", body)  # the service's fault: a client tries again
            assert (reply.status, "retry-after" in reply.headers) == (503, True), reply.json
            assert "the trial's policy cannot be used here" in reply.json["detail"]
        assert service.send("GET", "/trials/a/results").status == 503
        assert [line["status"] for line in service.send("GET", "/trials").json["trials"]] == ["open", "open"]
        errors = process.errors.read_text()
    (line,) = (line for line in errors.splitlines() if "cannot be run here" in line)
    assert "trial 'a'" in line
    assert "'absent'" in line
    assert "--import FILE.py" in line


def test_not_ready_until_loaded_but_alive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = open_store(tmp_path / "trials.db")
    with store.writing() as writing:
        create_trial(writing, make_design("t", "thompson", ARMS), utc_now(), "test").finish()
    may_load, load = threading.Event(), Engine.try_to_load

    def waiting(engine: Engine) -> Exception | None:
        may_load.wait(20)
        return load(engine)

    monkeypatch.setattr(Engine, "try_to_load", waiting)
    with in_thread(store) as service:
        try:
            assert service.send("GET", "/healthz", role=None).status == 200
            reply = service.send("GET", "/readyz", role=None)
            assert reply.status == 503
            assert reply.json["detail"].startswith("starting")
        finally:
            may_load.set()
        wait_until(lambda: service.send("GET", "/readyz", role=None).status == 200)


class _Compilations(Listener):  # type: ignore[misc]
    """The threads in which Numba compiled something."""

    def __init__(self) -> None:
        self.threads: list[str] = []

    def on_start(self, event: Event) -> None:
        self.threads.append(threading.current_thread().name)

    def on_end(self, event: Event) -> None:
        pass


def test_nothing_is_compiled_in_the_event_loop(tmp_path: Path) -> None:
    """A policy that is compiled nowhere else, from its creation to its results."""
    import_policies(in_file_of_its_own(tmp_path, FIRST_ARM, "first_arm"))
    with in_file(tmp_path / "trials.db") as service, install_listener("numba:compile", found := _Compilations()):
        service.client().create_trial("t", policy="first-arm", arms=ARMS)
        made = service.client().recommend("t", "s")
        assert made.arm == ARMS[0]
        reports = [("reports", {"actual": "walk", "reward": 1}), ("corrections", {"reason": "r", "reward": 0})]
        for path, body in reports:
            assert service.send("POST", f"/trials/t/recommendations/{made.id}/{path}", body).status == 201
        assert service.client().recommend("t", "u").arm == ARMS[0]
        for path in ("/results", f"/recommendations/{made.id}", "/export?format=log"):
            assert service.send("GET", f"/trials/t{path}").status == 200
    assert found.threads
    assert not [name for name in found.threads if not name.startswith(("background", "preparer"))]


def test_what_the_machine_lacks_is_a_503_with_nothing_recorded(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    trial = service.new_trial()
    records = service.client().trial(trial).records

    def short_of(*_: Any) -> None:
        raise UnavailableError("the policy cannot run for now (OSError)")

    with monkeypatch.context() as patched:
        patched.setattr(Engine, "ensure_loaded", short_of)
        reply = service.send("POST", f"/trials/{trial}/recommendations", {"subject": "s"}, key="k")
        assert (reply.status, reply.headers["retry-after"]) == (503, "1")
        assert "nothing was written" in reply.json["detail"]
    assert service.client().trial(trial).records == records
    assert service.send("POST", f"/trials/{trial}/recommendations", {"subject": "s"}, key="k").status == 201


def test_a_refused_update_is_counted_and_told(tmp_path: Path) -> None:
    import_policies(BUDGET)
    with in_file(tmp_path / "trials.db") as service:
        trial, site = service.new_trial(policy="budget"), service.client("site")
        for subject in range(4):
            site.report(trial, site.recommend(trial, str(subject)).id, reward=1)
        assert b"adhere_refused_updates_total 1.0" in service.send("GET", "/metrics").body
        assert service.client().results(trial).refused_updates == 1
        last = service.ids(trial)[3]
        history = service.client().recommendation(trial, last).to_dict()["derivation"]["history"]
        assert (history[-1]["event"], history[-1]["reason"]) == (
            "update-refused",
            "ValueError: over budget, see <path>",
        )


HELD = '''
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from numba.extending import overload

from adhere.policies import Learner, choose, implements, learn, policy

GATE = Path({folder!r})

def first():
    """The first arm; it is compiled once the gate is open."""

@overload(first)
def first_when_open():
    (GATE / "compiling").touch()
    while not (GATE / "open").exists():
        time.sleep(0.01)
    return lambda: 0

@policy("held")
class Held(Learner):
    """Always the first arm."""

@implements(choose, Held)
def choose_first(rule, state, memo, weight, rng):
    return first()

@implements(learn, Held)
def learn_nothing(rule, state, memo, arm, reward, weight, rng):
    pass
'''


def test_a_policy_that_must_be_compiled_holds_up_nothing_in_other_trials(tmp_path: Path) -> None:
    import_policies(in_file_of_its_own(tmp_path, HELD.format(folder=str(tmp_path)), "held"))
    with in_file(tmp_path / "trials.db") as service, ThreadPoolExecutor(2) as several:
        quick, site = service.new_trial(policy="thompson/actual"), service.client("site")
        made = site.recommend(quick, "S-1")
        site.report(quick, made.id, actual=made.arm, reward=1)
        assert service.store is not None
        with service.store.writing() as writing:  # as after a start: created, and not compiled here
            create_trial(writing, make_design("slow", "held", ARMS), utc_now(), "test").finish()
        slow = several.submit(service.client("site").recommend, "slow", "S-1")
        try:
            wait_until((tmp_path / "compiling").exists, 60)
            correction = several.submit(site.correct, quick, made.id, reason="a slip", reward=0)
            assert correction.result(60).at
            assert site.recommend(quick, "S-2").arm
            assert service.client().results(quick).recommendations == 2
            assert not slow.done()
        finally:
            (tmp_path / "open").touch()
        assert slow.result(60).arm == ARMS[0]
